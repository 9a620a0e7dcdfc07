use super::*;

#[test]
fn addresses_take_a_login_and_lose_it() {
    let url = with_login("https://example.com/a.git", Some("me"), Some("secret")).unwrap();
    assert_eq!(url, "https://me:secret@example.com/a.git");
    assert_eq!(redacted(&format!("fatal: '{url}'")), "fatal: 'https://<redacted>@example.com/a.git'");
    assert_eq!(redacted("git@example.com:a.git"), "git@example.com:a.git");
    assert!(with_login("http://example.com/a.git", Some("me"), None).is_err());
    assert!(with_login("https://example.com/a.git", None, Some("x")).is_err());
    assert_eq!(with_login("git@h:a", None, None).unwrap(), "git@h:a");
}

#[test]
fn options_are_a_command_line_or_a_list() {
    assert_eq!(options(&"-b 'a b' --".into()).unwrap(), ["-b", "a b"]);
    assert_eq!(options(&Value::list(["--"])).unwrap(), ["--"]);
    assert!(options(&Value::Null).unwrap().is_empty());
    assert!(options(&"'".into()).is_err());
}
