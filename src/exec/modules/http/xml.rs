//! XML as data, the way that Salt reads it: tags are keys, a tag that comes again makes a list, attributes are left out.

use halite_value::{Map, Value};
use roxmltree::{Document, Node};

/// What each child of the root element holds.
pub fn children(text: &str) -> Result<Value, String> {
    let document = Document::parse(text).map_err(|error| error.to_string())?;
    let root = document.root_element();
    Ok(Value::List(elements(root).map(content).collect()))
}

fn elements<'a, 'd>(node: Node<'a, 'd>) -> impl Iterator<Item = Node<'a, 'd>> {
    node.children().filter(Node::is_element)
}

fn content(node: Node) -> Value {
    if elements(node).next().is_none() {
        return Map::from_iter([(node.tag_name().name(), text(node))]).into();
    }
    let mut map = Map::new();
    for item in elements(node) {
        let name = item.tag_name().name();
        match map.at_mut(name) {
            None if elements(item).next().is_some() => drop(map.insert(name, content(item))),
            None => drop(map.insert(name, text(item))),
            Some(Value::List(several)) => several.push(content(item)),
            Some(one) => *one = Value::List(vec![std::mem::take(one), content(item)]),
        }
    }
    map.into()
}

fn text(node: Node) -> Value {
    node.children().next().and_then(|first| first.text().filter(|_| first.is_text())).map_or(Value::Null, Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_become_maps_as_in_salt() {
        let read = |text: &str| children(text).map(|value| value.to_json());
        let text = "<r xmlns='urn:x'><a id='1'>1</a><b><c>x</c><c>y</c><d><e/></d></b><f/></r>";
        let expected = r#"[{"a": "1"}, {"c": ["x", {"c": "y"}], "d": {"e": null}}, {"f": null}]"#;
        assert_eq!(read(text).unwrap(), expected);
        assert_eq!(read("<r/>").unwrap(), "[]");
        assert!(read("<r>").is_err() && read("no").is_err());
        assert!(read("<!DOCTYPE r [<!ENTITY a \"b\">]><r>&a;</r>").is_err(), "nothing is expanded");
    }
}
