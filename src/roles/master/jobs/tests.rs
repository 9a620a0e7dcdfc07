use super::*;
use halite_wire::message::{AtFailure, Batch, BatchSize};

const LOST_AFTER: Duration = Duration::from_secs(600);

struct World {
    jobs: Jobs,
    id: Id,
    start: Instant,
}

impl World {
    fn with_job(way: Way) -> World {
        let mut jobs = Jobs::default();
        let (id, start) = (Id::from("web1"), Instant::now());
        let job = Rc::new(Job { jid: "1".to_owned(), ..Job::default() });
        jobs.begin(job, &[(id.clone(), way)], &[Id::from("gone")], start);
        World { jobs, id, start }
    }

    fn long_poll(&mut self, taken: &[&str], first: bool, after_s: f32) -> (usize, usize) {
        let taken: Vec<String> = taken.iter().map(|jid| jid.to_string()).collect();
        let now = self.start + Duration::from_secs_f32(after_s);
        let (offers, ended) = self.jobs.long_poll(&self.id, &taken, first, now);
        (offers.len(), ended.len())
    }

    fn ret(&mut self) -> Received {
        let ret = Return { jid: "1".to_owned(), success: true, ..Return::default() };
        self.jobs.returned(&self.id, &ret, self.start)
    }

    fn state(&self) -> &'static str {
        self.jobs.states("1", self.start).unwrap().iter().find(|(id, _)| *id == self.id).unwrap().1
    }

    fn sweep(&mut self, after_s: u64) -> usize {
        self.jobs.sweep(LOST_AFTER, self.start + Duration::from_secs(after_s)).len()
    }
}

#[test]
fn a_target_that_is_not_connected_has_its_outcome_at_once() {
    let world = World::with_job(Way::Directed);
    let told = world.jobs.steps("1", 0).unwrap();
    let absent = Outcome { id: "gone".to_owned(), state: EndState::Absent, ret: None };
    assert_eq!((told.steps, told.open), (vec![Step::Ended(Box::new(absent))], 1));
}

#[test]
fn a_job_is_offered_until_it_is_taken_and_ends_with_its_return() {
    let mut world = World::with_job(Way::Directed);
    assert_eq!(world.long_poll(&[], false, 0.0), (1, 0));
    assert_eq!(world.long_poll(&[], false, 89.0), (1, 0), "the answer may have been lost");
    assert_eq!(world.long_poll(&[], false, 91.0), (0, 0), "it is stale now");
    assert_eq!(world.long_poll(&["1"], false, 92.0), (0, 0));
    assert_eq!(world.state(), "taken");
    assert_eq!(world.sweep(10_000), 0, "a job that runs may run for ever");
    assert_eq!((world.ret(), world.state()), (Received::Outcome, "returned"));
    assert_eq!(world.ret(), Received::Again);
    assert!(!world.jobs.any_open());
}

#[test]
fn a_publication_gets_its_time_before_the_job_is_handed_over() {
    let mut world = World::with_job(Way::Published);
    assert_eq!(world.long_poll(&[], false, 0.5), (0, 0));
    assert!(world.jobs.silent(world.start).is_empty());
    assert_eq!(world.jobs.silent(world.start + PUBLICATION_GRACE), [world.id.clone()]);
    assert_eq!(world.long_poll(&[], false, 1.0), (1, 0));
}

#[test]
fn what_is_never_taken_is_lost_and_may_return_late() {
    let mut world = World::with_job(Way::Directed);
    assert_eq!(world.sweep(119), 0);
    assert_eq!((world.sweep(120), world.state()), (1, "lost"));
    assert_eq!((world.ret(), world.state()), (Received::Late, "returned"));
    assert_eq!(world.jobs.steps("1", 2).unwrap().steps.len(), 1, "who reads along is told of the late return");
}

#[test]
fn a_minion_that_comes_back_without_the_job_has_lost_it() {
    let mut world = World::with_job(Way::Directed);
    world.long_poll(&["1"], false, 0.0);
    assert_eq!((world.long_poll(&[], false, 1.0), world.state()), ((0, 0), "taken"), "the return is on its way");
    assert_eq!((world.long_poll(&[], true, 2.0), world.state()), ((0, 1), "lost"));
}

#[test]
fn a_minion_that_stays_away_loses_its_job_in_the_end() {
    let mut world = World::with_job(Way::Directed);
    world.long_poll(&["1"], false, 0.0);
    world.jobs.away(&world.id.clone(), world.start);
    assert_eq!(world.sweep(599), 0);
    world.long_poll(&["1"], true, 599.5);
    assert_eq!(world.sweep(601), 0, "it was back in time");
    assert_eq!(world.state(), "taken");
    world.jobs.away(&world.id.clone(), world.start - RETURN_TIME);
    assert_eq!(world.state(), "away");
    world.long_poll(&["1"], false, 0.0);
    world.jobs.away(&world.id.clone(), world.start);
    assert_eq!((world.sweep(600), world.state()), (1, "lost"));
}

#[test]
fn a_deleted_key_and_a_reboot_end_everything() {
    let mut world = World::with_job(Way::Directed);
    let id = world.id.clone();
    assert_eq!(world.jobs.key_gone(&id, world.start).len(), 1);
    assert_eq!(world.state(), "lost");
    let mut world = World::with_job(Way::Directed);
    world.long_poll(&["1"], false, 0.0);
    assert_eq!(world.jobs.rebooted(&id, world.start).len(), 1);
}

#[test]
fn targets_are_awaited_as_long_as_somebody_waits() {
    let mut world = World::with_job(Way::Directed);
    assert!(world.jobs.awaited().is_empty());
    let waiting = world.jobs.changed("1").unwrap();
    assert_eq!(world.jobs.awaited(), [world.id.clone()], "not the absent one");
    drop(waiting);
    assert!(world.jobs.awaited().is_empty());
}

#[test]
fn who_waits_is_woken_and_finished_jobs_are_forgotten() {
    let mut world = World::with_job(Way::Directed);
    let waiting = world.jobs.changed("1").unwrap();
    world.ret();
    assert!(waiting.try_recv().is_ok());
    drop(waiting);
    world.sweep(14);
    assert!(world.jobs.knows("1"));
    world.sweep(16);
    assert!(!world.jobs.knows("1"));
}

#[test]
fn a_return_of_another_minion_is_not_taken_for_the_targets() {
    let mut world = World::with_job(Way::Directed);
    let ret = Return { jid: "1".to_owned(), ..Return::default() };
    assert_eq!(world.jobs.returned(&Id::from("evil"), &ret, world.start), Received::Unknown);
}

/// A batch of two at a time of a, b, c and d; all but d are connected.
struct Batched {
    jobs: Jobs,
    start: Instant,
}

impl Batched {
    fn job(at_failure: AtFailure) -> Rc<Job> {
        let batch = Batch { size: BatchSize::Percent(50.0), wait_s: 0, at_failure, timeout_s: 5 };
        Rc::new(Job { jid: "1".to_owned(), batch: Some(batch), ..Job::default() })
    }

    fn new(at_failure: AtFailure) -> Batched {
        let (mut jobs, start) = (Jobs::default(), Instant::now());
        let targets: Vec<Id> = ["a", "b", "c", "d"].map(Id::from).to_vec();
        jobs.begin_batch(Batched::job(at_failure), &targets, &[Id::from("gone")], start);
        Batched { jobs, start }
    }

    /// Who starts now, and who ends without a start.
    fn turn(&mut self, after_s: u64) -> (String, Vec<(String, EndState)>) {
        let turned = self.jobs.turn(|id| id.as_ref() != "d", self.start + Duration::from_secs(after_s));
        let started = turned.started.iter().flat_map(|(_, ids)| ids).map(|id| id.to_string()).collect();
        (started, turned.ended.into_iter().map(|end| (end.id.to_string(), end.state)).collect())
    }

    fn ret(&mut self, id: &str, retcode: i64) -> Received {
        let ret = Return { jid: "1".to_owned(), retcode, ..Return::default() };
        self.jobs.returned(&id.into(), &ret, self.start)
    }

    fn state(&self, id: &str) -> &'static str {
        self.jobs.states("1", self.start).unwrap().into_iter().find(|(of, _)| of.as_ref() == id).unwrap().1
    }
}

#[test]
fn a_batch_hands_its_job_out_by_turns() {
    let mut batch = Batched::new(AtFailure::GoOn);
    let stand = |batch: &mut Batched, id: &str| batch.jobs.long_poll(&id.into(), &[], false, batch.start).0.len();
    assert_eq!((stand(&mut batch, "a"), batch.state("a")), (0, "waiting"));
    assert_eq!(batch.turn(0), ("ab".to_owned(), vec![]));
    assert_eq!((stand(&mut batch, "a"), stand(&mut batch, "c")), (1, 0));
    assert_eq!((batch.ret("a", 1), batch.turn(0)), (Received::Outcome, ("c".to_owned(), vec![])));
    batch.ret("b", 0);
    assert_eq!(batch.turn(0), (String::new(), vec![("d".to_owned(), EndState::Absent)]), "it has gone meanwhile");
    assert!(batch.jobs.any_open() && !batch.jobs.is_finished("1"));
    batch.ret("c", 0);
    assert_eq!(batch.jobs.turn(|_| true, batch.start).over, ["1"]);
    assert!(batch.jobs.turn(|_| true, batch.start).over.is_empty(), "that is told once");
    let state = &batch.jobs.batches()[0];
    assert_eq!((state.total, state.completed, state.failed, state.active), (5, 3, 2, 0));
    let steps = batch.jobs.steps("1", 0).unwrap().steps;
    assert_eq!(steps[1], Step::Started(vec!["a".to_owned(), "b".to_owned()]));
    assert_eq!(steps.len(), 7);
}

#[test]
fn a_failure_cancels_what_has_not_been_started() {
    let mut batch = Batched::new(AtFailure::Stop);
    batch.turn(0);
    batch.ret("b", 3);
    let cancelled = |id: &str| (id.to_owned(), EndState::Cancelled);
    assert_eq!(batch.turn(0), (String::new(), vec![cancelled("c"), cancelled("d")]));
    assert_eq!((batch.state("a"), batch.state("c")), ("sent", "cancelled"));
    assert!(!batch.jobs.is_finished("1"), "a goes on");
    batch.ret("a", 0);
    assert!(batch.jobs.is_finished("1"));
}

#[test]
fn a_silent_target_makes_room_and_may_return_after_all() {
    let mut batch = Batched::new(AtFailure::GoOn);
    batch.turn(0);
    batch.jobs.long_poll(&"b".into(), &["1".to_owned()], false, batch.start);
    assert_eq!(batch.turn(4).0, "");
    assert_eq!(batch.turn(5).0, "c", "b has taken it and works");
    assert!(batch.jobs.steps("1", 0).unwrap().steps.contains(&Step::Silent("a".to_owned())));
    assert_eq!(batch.ret("a", 0), Received::Outcome);
}

#[test]
fn a_batch_is_stopped_on_demand_once() {
    let mut batch = Batched::new(AtFailure::GoOn);
    batch.turn(0);
    assert!(batch.jobs.stop_batch("1") && !batch.jobs.stop_batch("1") && !batch.jobs.stop_batch("2"));
    assert_eq!(batch.turn(0).1.len(), 2);
    assert_eq!(batch.jobs.batches()[0].stopped, Some(Stopped::Asked));
}

#[test]
fn a_restored_batch_knows_who_had_their_turn() {
    let (mut jobs, start) = (Jobs::default(), Instant::now());
    let open: Vec<Id> = ["a", "b", "c"].map(Id::from).to_vec();
    let started = HashMap::from([(Id::from("a"), Duration::from_secs(3600)), (Id::from("b"), Duration::ZERO)]);
    jobs.restore_batch(Batched::job(AtFailure::GoOn), &open, &started, start);
    let mut batch = Batched { jobs, start };
    assert_eq!((batch.state("b"), batch.state("c")), ("sent", "waiting"));
    // Half of those that are left: one at a time, and two have their turn.
    assert_eq!(batch.turn(0).0, "");
    assert_eq!(batch.ret("c", 0), Received::Outcome, "it had its turn, which was not written down any more");
    batch.ret("a", 0);
    batch.ret("b", 0);
    assert_eq!(batch.jobs.turn(|_| true, start).over, ["1"]);
}

#[test]
fn to_whom_a_job_was_sent_is_known_after_it_was_forgotten() {
    let mut world = World::with_job(Way::Directed);
    let sent = |world: &World, id: &str| world.jobs.sent("1", &Id::from(id));
    assert_eq!((sent(&world, "web1"), sent(&world, "other")), (Some(Sent::ToIt), Some(Sent::ToOthers)));
    world.ret();
    world.sweep(60);
    assert!(!world.jobs.knows("1"));
    assert_eq!((sent(&world, "web1"), sent(&world, "other")), (Some(Sent::ToIt), Some(Sent::ToOthers)));
    assert_eq!(sent(&world, "gone"), Some(Sent::ToOthers), "it was not sent what it was not there for");
}

#[test]
fn a_minion_that_had_returned_before_a_restart_was_told_that_the_job_was_not_sent_to_it() {
    let (mut jobs, start) = (Jobs::default(), Instant::now());
    let job = Rc::new(Job { jid: "1".to_owned(), ..Job::default() });
    jobs.restore(job, &[Id::from("open")], Duration::ZERO, start);
    assert_eq!(jobs.sent("1", &Id::from("open")), Some(Sent::ToIt));
    assert_eq!(jobs.sent("1", &Id::from("done")), None, "the database has to say");
}
