use super::*;

fn valid() -> Arc<AtomicBool> {
    Arc::new(AtomicBool::new(true))
}

struct Folder(PathBuf);

impl Folder {
    fn fresh(name: &str) -> Folder {
        let folder = std::env::temp_dir().join(format!("halite-database-{name}-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).unwrap();
        Folder(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn job(jid: &str) -> Job {
    Job { jid: jid.to_owned(), fun: "test.ping".into(), tgt: "*".into(), tgt_type: "glob".to_owned(), ..Job::default() }
}

#[test]
fn what_is_written_is_read_and_what_is_open_is_known() {
    let folder = Folder::fresh("write");
    let path = path_in(&folder.0);
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
    let folder = Folder::fresh("batch");
    let path = path_in(&folder.0);
    let database = Database::open(&path).unwrap();
    let batch = Batch { size: BatchSize::Count(3), wait_s: 2, at_failure: AtFailure::Stop, patience_s: 5 };
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
    let folder = Folder::fresh("own");
    let path = path_in(&folder.0);
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
    let folder = Folder::fresh("prune");
    let path = path_in(&folder.0);
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
    let folder = Folder::fresh("late");
    let path = path_in(&folder.0);
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
    let folder = Folder::fresh("kept");
    let path = path_in(&folder.0);
    let database = Database::open(&path).unwrap();
    for (bank, key) in [("a", "1"), ("a", "2"), ("b", "1")] {
        database.save_kept(bank.to_owned(), key.to_owned(), Value::list(["x"]));
    }
    database.flush_kept("a".to_owned(), Some("1".to_owned()));
    database.flush_kept("b".to_owned(), None);
    smol::block_on(database.reach()).unwrap();
    let archive = Archive::open(&path).unwrap().unwrap();
    assert_eq!(archive.kept("a").unwrap(), [("2".to_owned(), Value::list(["x"]))]);
    assert!(archive.kept("b").unwrap().is_empty());
}
