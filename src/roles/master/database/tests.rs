use super::writer::commit;
use super::*;
use halite_wire::message::{AtFailure, Batch, BatchSize};
use rusqlite::Connection;
use smol::channel::Receiver;

fn valid() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(true))
}

struct Directory(PathBuf);

impl Directory {
    fn fresh(name: &str) -> Directory {
        let directory = std::env::temp_dir().join(format!("halite-database-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&directory);
        std::fs::create_dir_all(&directory).unwrap();
        Directory(directory)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn job(jid: &str) -> Job {
    Job { jid: jid.to_owned(), fun: "test.ping".into(), tgt: "*".into(), tgt_type: "glob".to_owned(), ..Job::default() }
}

#[test]
fn what_is_written_is_read_and_what_is_open_is_known() {
    let directory = Directory::fresh("write");
    let path = path_in(&directory.0);
    let database = Database::open(&path).unwrap();
    smol::block_on(async {
        let minions = ["a", "b", "c"].map(str::to_owned).to_vec();
        database.save_job(job("20260101000000000001"), minions, vec!["d".to_owned()]).await.unwrap();
        let ret = Return {
            jid: "20260101000000000001".to_owned(),
            fun: "test.ping".into(),
            value: true.into(),
            success: true,
            ..Return::default()
        };
        database
            .save_return("a", ret, Map::from_iter([("return", true)]), Over::Replaces, Closes::No, valid())
            .await
            .unwrap();
        database.save_end("20260101000000000001".to_owned(), "b".to_owned(), EndState::Lost);
    });
    drop(database);
    let archive = Archive::open(&path).unwrap().unwrap();
    let open = archive.unfinished().unwrap();
    assert_eq!(
        (open.len(), open[0].open.as_slice(), &open[0].job.fun),
        (1, &["c".to_owned()][..], &Value::from("test.ping"))
    );
    assert_eq!(
        archive.ends("20260101000000000001").unwrap(),
        [("b".into(), "lost".into()), ("d".into(), "absent".into())]
    );
    assert_eq!(archive.returns("20260101000000000001").unwrap()[0].1.at("return"), Some(&Value::Bool(true)));
}

#[test]
fn a_batch_is_read_as_it_was_written() {
    let directory = Directory::fresh("batch");
    let path = path_in(&directory.0);
    let database = Database::open(&path).unwrap();
    let batch = Batch { size: BatchSize::Count(3), wait_s: 2, at_failure: AtFailure::Stop, timeout_s: 5 };
    let jid = "20260101000000000001";
    let batched = Job { batch: Some(batch), ..job(jid) };
    let minions = ["a", "b"].map(str::to_owned).to_vec();
    smol::block_on(database.save_job(batched, minions, vec![])).unwrap();
    database.save_started(jid.to_owned(), vec!["b".to_owned()], 1.5);
    drop(database);
    let archive = Archive::open(&path).unwrap().unwrap();
    assert_eq!(archive.unfinished().unwrap()[0].job.batch, Some(batch));
    assert_eq!(archive.started(jid).unwrap(), [("b".to_owned(), 1.5)]);
}

#[test]
fn a_return_that_nobody_asked_for_is_a_job_of_its_own_and_replaces_none() {
    let directory = Directory::fresh("own");
    let path = path_in(&directory.0);
    let database = Database::open(&path).unwrap();
    let ret = |jid: &str| Return { jid: jid.to_owned(), fun: "state.apply".into(), ..Return::default() };
    smol::block_on(async {
        database.save_job(job("20260101000000000001"), vec!["a".to_owned()], vec![]).await.unwrap();
        for jid in ["20260101000000000001", "20260101000000000002"] {
            database.save_return("a", ret(jid), Map::new(), Over::Replaces, Closes::No, valid()).await.unwrap();
        }
    });
    drop(database);
    let jobs = Archive::open(&path).unwrap().unwrap().jobs().unwrap();
    let shown: Vec<_> = jobs.iter().map(|job| (job.load.str_at("fun"), job.load.str_at("tgt"))).collect();
    assert_eq!(shown, [(Some("test.ping"), Some("*")), (Some("state.apply"), Some("a"))]);
}

#[test]
fn old_jobs_are_pruned() {
    let directory = Directory::fresh("prune");
    let path = path_in(&directory.0);
    let database = Database::open(&path).unwrap();
    smol::block_on(async {
        database.save_job(job("20200101000000000001"), vec![], vec![]).await.unwrap();
        database.save_job(job("20260101000000000001"), vec![], vec![]).await.unwrap();
    });
    database.prune("20250101000000000000".to_owned());
    drop(database);
    let jobs = Archive::open(&path).unwrap().unwrap().jobs().unwrap();
    assert_eq!(jobs.iter().map(|job| job.jid.as_str()).collect::<Vec<_>>(), ["20260101000000000001"]);
}

#[test]
fn a_return_after_the_end_takes_the_end_back() {
    let directory = Directory::fresh("late");
    let path = path_in(&directory.0);
    let database = Database::open(&path).unwrap();
    smol::block_on(async {
        database.save_job(job("20260101000000000001"), vec!["a".to_owned()], vec![]).await.unwrap();
        database.save_end("20260101000000000001".to_owned(), "a".to_owned(), EndState::Lost);
        let ret = Return { jid: "20260101000000000001".to_owned(), ..Return::default() };
        database.save_return("a", ret, Map::new(), Over::Replaces, Closes::No, valid()).await.unwrap();
    });
    drop(database);
    assert!(Archive::open(&path).unwrap().unwrap().ends("20260101000000000001").unwrap().is_empty());
}

#[test]
fn no_database_is_no_error() {
    assert!(Archive::open(Path::new("/nonexistent/jobs.sqlite")).unwrap().is_none());
}

#[test]
fn what_is_kept_for_others_is_read_and_flushed() {
    let directory = Directory::fresh("kept");
    let path = path_in(&directory.0);
    let database = Database::open(&path).unwrap();
    for (bank, key) in [("a", "1"), ("a", "2"), ("b", "1")] {
        smol::block_on(database.save_kept(bank.to_owned(), key.to_owned(), Value::list(["x"]))).unwrap();
    }
    smol::block_on(database.flush_kept("a".to_owned(), Some("1".to_owned()))).unwrap();
    smol::block_on(database.flush_kept("b".to_owned(), None)).unwrap();
    let archive = Archive::open(&path).unwrap().unwrap();
    assert_eq!(archive.kept("a").unwrap(), [("2".to_owned(), Value::list(["x"]))]);
    assert!(archive.kept("b").unwrap().is_empty());
}

/// An order as [`commit`] takes it, and what it is answered.
fn order(write: Write) -> (Order, Receiver<Result<(), String>>) {
    let (sender, done) = bounded(1);
    (Order { write, done: Some(sender) }, done)
}

fn return_of(id: &str, value: impl Into<Value>) -> Write {
    let ret = Return { jid: "20260101000000000001".to_owned(), value: value.into(), ..Return::default() };
    let (full, over, closes) = (Map::new(), Over::Replaces, Closes::No);
    Write::Return { id: id.to_owned(), ret: Box::new(ret), full, over, closes, valid: valid() }
}

/// Commits a group as the writer does; gives what each order is told and the minions whose return is there.
fn commit_group(path: &Path, prepare: &str, group: Vec<Write>) -> (Vec<Result<(), String>>, Vec<String>) {
    let database = Database::open(path).unwrap();
    drop(database);
    let mut connection = Connection::open(path).unwrap();
    connection.execute_batch(prepare).unwrap();
    let (orders, answers): (Vec<Order>, Vec<_>) = group.into_iter().map(order).unzip();
    let (written, to_sync) = smol::channel::unbounded();
    commit(&mut connection, orders, &written);
    drop(written);
    // The thread for the disk: it answers those whose return lies in the log.
    while let Ok(waiting) = to_sync.try_recv() {
        waiting.into_iter().for_each(|done| drop(done.try_send(Ok(()))));
    }
    let told = answers.iter().map(|answer| answer.try_recv().unwrap()).collect();
    let archive = Archive::open(path).unwrap().unwrap();
    let there = archive.returns("20260101000000000001").unwrap();
    (told, there.into_iter().map(|(id, _)| id).collect())
}

#[test]
fn one_write_that_fails_takes_its_whole_group_with_it() {
    // ABORT takes back the statement, ROLLBACK the whole transaction, as SQLite does by itself when the disk is broken.
    for how in ["ABORT", "ROLLBACK"] {
        let directory = Directory::fresh(&format!("group-{how}"));
        let refuse = format!(
            "CREATE TRIGGER refuse BEFORE INSERT ON salt_returns WHEN NEW.id = 'bad'
             BEGIN SELECT RAISE({how}, 'not this one'); END"
        );
        let never = Write::Started { jid: "1".to_owned(), ids: vec!["a".to_owned()], at: f64::NAN };
        let group = vec![
            return_of("first", true),
            return_of("bad", true),
            never,
            return_of("next", true),
            return_of("last", true),
        ];
        let (told, there) = commit_group(&path_in(&directory.0), &refuse, group);
        assert_eq!(there, ["first", "last", "next"], "{how}");
        assert_eq!([0, 3, 4].map(|at| told[at].clone()), [Ok(()), Ok(()), Ok(())], "{how}");
        assert!(told[1].as_ref().is_err_and(|why| why.contains("not this one")), "{how}: {told:?}");
        assert!(told[2].as_ref().is_err_and(|why| why.contains("NOT NULL")), "{how}: {told:?}");
    }
}

#[test]
fn a_full_disk_loses_what_does_not_fit_and_says_so() {
    let directory = Directory::fresh("full");
    let path = path_in(&directory.0);
    // A few dozen pages: the large one does not fit, the small ones do.
    let group = vec![return_of("small", true), return_of("large", "x".repeat(1 << 20)), return_of("other", true)];
    let (told, there) = commit_group(&path, "PRAGMA max_page_count = 60", group);
    assert_eq!(there, ["other", "small"]);
    assert!(told[1].as_ref().is_err_and(|why| why.contains("full")), "{told:?}");
    assert_eq!((told[0].clone(), told[2].clone()), (Ok(()), Ok(())));
}

#[test]
fn nothing_is_acknowledged_that_cannot_be_written() {
    let directory = Directory::fresh("unwritable");
    let group = vec![return_of("a", true), return_of("b", true)];
    let (told, there) = commit_group(&path_in(&directory.0), "PRAGMA query_only = 1", group);
    assert!(there.is_empty(), "{there:?}");
    assert!(told.iter().all(Result::is_err), "{told:?}");
}

#[test]
fn to_whom_a_job_was_sent_is_answered_beside_the_writes() {
    let directory = Directory::fresh("sent");
    let path = path_in(&directory.0);
    let database = Database::open(&path).unwrap();
    let sent = |jid: &str, id: &str| smol::block_on(database.sent(jid.to_owned(), id.to_owned())).unwrap();
    let jid = "20260101000000000001";
    assert_eq!(sent(jid, "a"), Sent::Never);
    smol::block_on(database.save_job(job(jid), vec!["a".to_owned()], vec!["b".to_owned()])).unwrap();
    assert_eq!((sent(jid, "a"), sent(jid, "b")), (Sent::ToIt, Sent::ToOthers));
}
