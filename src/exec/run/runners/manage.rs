//! `manage.*`: which minions are there.

mod present;
mod versions;

use super::fleet::Order;
use super::{Ctx, Module, Run, function};
use halite_core::{Fault, Reply};
use halite_value::record;
use halite_value::record::{Keywords, Rest};
use halite_value::{Map, Value};
use present::{Connected, NotConnected};
use std::time::Duration;

pub const MODULE: Module = Module {
    name: "manage",
    doc: "Shows which minions are there, and which are not.",
    functions: &[
        function::<Connected>("alived"),
        function::<Connected>("allowed"),
        function::<Bootstrap>("bootstrap"),
        function::<Bootstrap>("bootstrap_psexec"),
        function::<Down>("down"),
        function::<Connected>("joined"),
        function::<KeyRegen>("key_regen"),
        function::<NotConnected>("list_not_state"),
        function::<Connected>("list_state"),
        function::<NotConnected>("not_alived"),
        function::<NotConnected>("not_allowed"),
        function::<NotConnected>("not_joined"),
        function::<NotConnected>("not_present"),
        function::<NotConnected>("not_reaped"),
        function::<Connected>("present"),
        function::<Connected>("reaped"),
        function::<SafeAccept>("safe_accept"),
        function::<Status>("status"),
        function::<Up>("up"),
        function::<versions::Versions>("versions"),
    ],
};

record! {
    /// Asks all minions and shows who answers (`up`) and who does not (`down`).
    ///
    ///   salt-run manage.status
    ///   salt-run manage.status tgt=webservers tgt_type=nodegroup timeout=5
    pub struct Status {
        /// Taken, not used.
        output: bool = true,
        /// Whom to ask.
        tgt: Value = "*",
        /// The kind of target.
        tgt_type: String = "glob",
        /// Seconds for which a minion may say nothing.
        timeout: Option<f64> = (),
        /// Taken, not used: the master knows who works on a job.
        gather_job_timeout: Option<f64> = (),
    }
}

impl Run for Status {
    fn run(self, ctx: &Ctx) -> Reply {
        let (up, down) = ping(ctx, self.tgt, self.tgt_type, self.timeout)?;
        Ok(Map::from_iter([("up", up), ("down", down)]).into())
    }
}

record! {
    /// Asks all minions and shows who answers.
    ///
    ///   salt-run manage.up
    ///   salt-run manage.up tgt=webservers tgt_type=nodegroup
    pub struct Up {
        /// Whom to ask.
        tgt: Value = "*",
        /// The kind of target.
        tgt_type: String = "glob",
        /// Seconds for which a minion may say nothing.
        timeout: Option<f64> = (),
        /// Taken, not used: the master knows who works on a job.
        gather_job_timeout: Option<f64> = (),
    }
}

impl Run for Up {
    fn run(self, ctx: &Ctx) -> Reply {
        Ok(ping(ctx, self.tgt, self.tgt_type, self.timeout)?.0.into())
    }
}

record! {
    /// Asks all minions and shows who does not answer.
    ///
    ///   salt-run manage.down
    ///   salt-run manage.down tgt=webservers tgt_type=nodegroup
    pub struct Down {
        /// Delete the keys of those who do not answer: refused here, since a minion that is away for a moment would
        /// lose its key; `salt-key -d` deletes keys.
        removekeys: bool = false,
        /// Whom to ask.
        tgt: Value = "*",
        /// The kind of target.
        tgt_type: String = "glob",
        /// Seconds for which a minion may say nothing.
        timeout: Option<f64> = (),
        /// Taken, not used: the master knows who works on a job.
        gather_job_timeout: Option<f64> = (),
    }
}

impl Run for Down {
    fn run(self, ctx: &Ctx) -> Reply {
        if self.removekeys {
            return Err(Fault::invocation(
                "removekeys: no keys are deleted here, since a minion may be away for a moment: use salt-key -d",
            ));
        }
        Ok(ping(ctx, self.tgt, self.tgt_type, self.timeout)?.1.into())
    }
}

/// Who answers and who does not.
fn ping(ctx: &Ctx, tgt: Value, tgt_type: String, timeout: Option<f64>) -> Result<(Vec<String>, Vec<String>), Fault> {
    let timeout = timeout.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let order = Order { tgt, tgt_type, fun: "test.ping".to_owned(), timeout, ..Order::default() };
    Ok(ctx.fleet.publish(order)?.up_and_down())
}

record! {
    /// Would install minions on hosts with a script from the internet, which Halite does not do: copy the one binary to
    /// the host and start it.
    ///
    ///   salt-run manage.bootstrap hosts=host1,host2
    ///   salt-run manage.bootstrap_psexec hosts=host1
    pub struct Bootstrap {
        args: Rest,
        kwargs: Keywords,
    }
}

impl Run for Bootstrap {
    fn run(self, _: &Ctx) -> Reply {
        Err(Fault::execution(
            "this runs a script from the internet on hosts, which Halite does not: copy the halite binary to the host \
             and start it as salt-minion",
        ))
    }
}

record! {
    /// Would make all minions change their keys at once, and leave a fleet that nobody knows if that is cut short. Here a
    /// key is changed minion by minion: delete it with salt-key, remove it on the minion, accept the new one.
    ///
    ///   salt-run manage.key_regen
    pub struct KeyRegen {}
}

impl Run for KeyRegen {
    fn run(self, _: &Ctx) -> Reply {
        Err(Fault::execution(
            "Halite does not change the keys of all minions at once: for each, salt-key -d ID, remove minion.pem and \
             minion.pub on it, start it again, and accept the key that it shows",
        ))
    }
}

record! {
    /// Would ask a minion for its fingerprint over ssh before its key is accepted, which needs salt-ssh.
    ///
    ///   salt-run manage.safe_accept my_minion
    pub struct SafeAccept {
        /// The minion.
        target: Value,
        /// The kind of target.
        tgt_type: String = "glob",
    }
}

impl Run for SafeAccept {
    fn run(self, _: &Ctx) -> Reply {
        Err(Fault::execution(
            "this version has no salt-ssh: compare what salt-key -f ID shows with /etc/salt/pki/minion/minion.pub on the \
             minion, then salt-key -a ID",
        ))
    }
}
