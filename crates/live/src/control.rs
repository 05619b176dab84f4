//! The control socket: one JSON object a line in, one out, while frames go on passing.
//!
//! Threads of ordinary priority read and write the socket, one a client; the loop only sees parsed commands
//! and answers with a value, so a slow client delays neither a frame nor another client. A client's thread
//! also builds the loss models, however long they are, and frees those that the loop gives back for them. A line that begins
//! with `GET` is answered over HTTP on the same socket: `/metrics` in Prometheus' text format.

use crate::error::{Attempt, Result};
use crate::prometheus;
use crate::sys;
use crate::sys::privilege::{self, OF_HELPERS};
use crate::sys::process::wake_up_call;
use lossylink_core::loss::LossModel;
use lossylink_core::protection::Protection;
use serde_json::{Value, json};
use std::fs::{self, Permissions};
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, SyncSender, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// The longest line that is read: a trace of a million losses fits.
const LONGEST_LINE: usize = 16 << 20;
/// How long a client may take to send a line, and how long it may leave an answer unread.
const PATIENCE: Duration = Duration::from_secs(5);
/// Clients that are served at once; a further client is told to come again.
const CLIENTS: usize = 16;

/// A question or an order of a client to a running data plane.
#[derive(Clone, Debug, serde::Deserialize, PartialEq)]
#[serde(tag = "command", rename_all = "snake_case", deny_unknown_fields)]
pub enum Command {
    /// Asks for every counter.
    Counters,
    /// Asks for the meaning of the counters, in the same places.
    Describe,
    /// Sets other loss models from now on; an absent direction stays as it is.
    Loss {
        /// The loss model from near to far.
        #[serde(default)]
        forward: Option<LossModel>,
        /// The loss model from far to near.
        #[serde(default)]
        reverse: Option<LossModel>,
    },
    /// Sets another protection from now on; none if absent.
    Protect {
        /// The protection, as in the configuration.
        #[serde(default)]
        protection: Option<Protection>,
    },
    /// Forgets the lateness recorded so far, at the start of a measurement.
    Clear,
    /// Drains the frames that are held and ends the process.
    Stop,
}

/// The loop's answer, and the command with the old value that the loop has put into it: freeing that value is the client's
/// work.
type Answer = (Value, Command);
/// A question of a client and the way back for its answer.
type Question = (Command, SyncSender<Answer>);

/// The loop's end of the control socket: the questions of clients.
#[derive(Debug)]
pub struct Control {
    questions: Receiver<Question>,
    alarm: Arc<OwnedFd>,
    path: PathBuf,
}

impl Control {
    /// Makes the socket and starts to listen; the threads that serve clients have no privilege if `is_confined`, except to
    /// lock memory.
    ///
    /// # Errors
    /// When the socket cannot be made there.
    pub fn listen(path: &Path, is_confined: bool) -> Result<Self> {
        let listener = listen(path).attempting(format_args!("make the control socket {}", path.display()))?;
        let alarm = Arc::new(wake_up_call().attempting("make an event descriptor")?);
        let (asking, questions) = channel();
        let bell = Arc::clone(&alarm);
        thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || {
                // Threads of clients begin with the privileges that this thread has left.
                if !is_confined || privilege::keep_only(OF_HELPERS).is_ok() {
                    serve(&listener, &asking, &bell);
                }
            })
            .attempting("start the control thread")?;
        Ok(Self { questions, alarm, path: path.to_owned() })
    }

    /// Returns the descriptor that turns readable when a command waits.
    pub fn readable(&self) -> BorrowedFd<'_> {
        (*self.alarm).as_fd()
    }

    /// Answers every waiting command with `answer`, which may put an old value into the command so that the client's thread
    /// frees it.
    pub fn answer(&self, mut answer: impl FnMut(&mut Command) -> Value) {
        if self.questions_waiting() {
            while let Ok((mut command, way_back)) = self.questions.try_recv() {
                let value = answer(&mut command);
                // A client that has hung up does not need its answer.
                let _ = way_back.send((value, command));
            }
        }
    }

    fn questions_waiting(&self) -> bool {
        let mut count = [0; 8];
        matches!(sys::read((*self.alarm).as_fd(), &mut count), Ok(Some(_)))
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        // Another process may have removed the socket; nothing is left to be done then.
        let _ = fs::remove_file(&self.path);
    }
}

/// Makes a socket that appears at `path` when it already listens, so that a client who sees the socket can connect. A socket
/// that a killed process has left there is replaced.
fn listen(path: &Path) -> io::Result<UnixListener> {
    let unfinished = path.with_extension("new");
    match fs::remove_file(&unfinished) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    let listener = UnixListener::bind(&unfinished)?;
    // A client that may open the socket may change the protection: its owner alone may open it, whatever the umask.
    fs::set_permissions(&unfinished, Permissions::from_mode(0o600))?;
    fs::rename(&unfinished, path)?;
    Ok(listener)
}

/// Serves several clients at once.
fn serve(listener: &UnixListener, asking: &Sender<Question>, bell: &Arc<OwnedFd>) {
    let busy = Arc::new(AtomicUsize::new(0));
    for client in listener.incoming().flatten() {
        let seat = Seat::take(&busy);
        if busy.load(Ordering::Acquire) > CLIENTS {
            let _ = (&client).write_all(b"{\"error\":\"too many clients at once\"}\n");
            continue;
        }
        let (asking, bell) = (asking.clone(), Arc::clone(bell));
        // A client that misbehaves loses its connection and does not disturb other clients. A client for which no thread can
        // be started is hung up on.
        let _ = thread::Builder::new().name("client".to_owned()).spawn(move || {
            let _seat = seat;
            let _ = converse(&client, &asking, &bell);
        });
    }
}

/// One of the [`CLIENTS`] places for clients, as long as it lives.
struct Seat(Arc<AtomicUsize>);

impl Seat {
    fn take(busy: &Arc<AtomicUsize>) -> Self {
        busy.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(busy))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Reads a line within [`PATIENCE`], however slowly it comes; `None` at the end, and for one that is too long.
fn read_line(reader: &mut BufReader<&UnixStream>) -> io::Result<Option<String>> {
    let (mut line, deadline) = (Vec::new(), Instant::now() + PATIENCE);
    loop {
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(io::ErrorKind::TimedOut.into());
        }
        reader.get_ref().set_read_timeout(Some(left))?;
        let waiting = reader.fill_buf()?;
        let end = waiting.iter().position(|byte| *byte == b'\n');
        let taken = end.map_or(waiting.len(), |end| end + 1);
        line.extend_from_slice(&waiting[..taken]);
        reader.consume(taken);
        if line.len() > LONGEST_LINE || (taken == 0 && line.is_empty()) {
            return Ok(None);
        }
        if end.is_some() || taken == 0 {
            return String::from_utf8(line).map(Some).map_err(io::Error::other);
        }
    }
}

fn converse(client: &UnixStream, asking: &Sender<Question>, bell: &OwnedFd) -> io::Result<()> {
    client.set_write_timeout(Some(PATIENCE))?;
    let mut reader = BufReader::new(client);
    loop {
        let Some(line) = read_line(&mut reader)? else { return Ok(()) };
        if let Some(request) = line.strip_prefix("GET ") {
            let target = request.split_whitespace().next().unwrap_or_default();
            if target.split('?').next() != Some("/metrics") {
                return (&*client).write_all(prometheus::NOT_FOUND.as_bytes());
            }
            let help = ask(Command::Describe, asking, bell);
            let page = prometheus::page(&ask(Command::Counters, asking, bell), &help);
            return (&*client).write_all(page.as_bytes());
        }
        let reply = match serde_json::from_str(&line) {
            Ok(command) => ask(command, asking, bell),
            Err(error) => json!({"error": format!("command: {error}")}),
        };
        // One write: a value that formats itself into a socket makes a system call for every token.
        (&*client).write_all(format!("{reply}\n").as_bytes())?;
    }
}

/// Puts a question to the loop and waits for its answer.
fn ask(command: Command, asking: &Sender<Question>, bell: &OwnedFd) -> Value {
    let (way_back, answer) = sync_channel(1);
    let rung =
        asking.send((command, way_back)).is_ok() && sys::write(bell.as_fd(), &1u64.to_ne_bytes()).is_ok();
    match answer.recv_timeout(PATIENCE) {
        Ok((value, _)) if rung => value,
        _ => json!({"error": "the data plane does not answer"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use lossylink_core::protection::Fec;

    fn parse(text: &str) -> std::result::Result<Command, serde_json::Error> {
        serde_json::from_str(text)
    }

    #[test]
    fn commands_are_read() {
        assert_eq!(parse(r#"{"command":"counters"}"#).unwrap(), Command::Counters);
        let loss = Command::Loss { forward: Some(LossModel::bernoulli(1e-3).unwrap()), reverse: None };
        let text = r#"{"command":"loss","forward":{"model":"bernoulli","p":1e-3}}"#;
        assert_eq!(parse(text).unwrap(), loss);
        let protect = r#"{"command":"protect","protection":{"family":"fec","k":25,"h":5}}"#;
        let protection = Some(Protection::Fec(Fec::new(25, 5)));
        assert_eq!(parse(protect).unwrap(), Command::Protect { protection });
        assert_eq!(parse(r#"{"command":"protect"}"#).unwrap(), Command::Protect { protection: None });
        assert!(parse(r#"{"command":"explode"}"#).is_err());
    }

    #[test]
    fn a_question_is_answered_over_the_socket() {
        let path = std::env::temp_dir().join(format!("lossylink-control-{}", std::process::id()));
        let control = Control::listen(&path, false).unwrap();
        let mut client = UnixStream::connect(&path).unwrap();
        writeln!(client, r#"{{"command":"counters"}}"#).unwrap();
        let watched = [control.readable()];
        sys::poll::wait(&watched, Some(5_000_000_000)).unwrap();
        control.answer(|command| json!({"asked": format!("{command:?}")}));
        let mut line = String::new();
        BufReader::new(&client).read_line(&mut line).unwrap();
        assert_eq!(line, "{\"asked\":\"Counters\"}\n");
        drop(control);
        assert!(!path.exists());
    }

    /// Sets a flag when it is dropped, also when a test fails.
    struct Over<'a>(&'a AtomicUsize);

    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(1, Ordering::Release);
        }
    }

    /// Runs `test` with a control socket whose loop answers with the command's name.
    fn answering(name: &str, test: impl FnOnce(&Path)) {
        let path = std::env::temp_dir().join(format!("lossylink-{name}-{}", std::process::id()));
        let control = Control::listen(&path, false).unwrap();
        let over = &AtomicUsize::new(0);
        thread::scope(|scope| {
            scope.spawn(move || {
                while over.load(Ordering::Acquire) == 0 {
                    sys::poll::wait(&[control.readable()], Some(10_000_000)).unwrap();
                    control.answer(|command| json!({"asked": format!("{command:?}")}));
                }
            });
            let _over = Over(over);
            test(&path);
        });
    }

    fn asked(path: &Path, words: &str) -> String {
        asked_of(&mut UnixStream::connect(path).unwrap(), words)
    }

    fn asked_of(client: &mut UnixStream, words: &str) -> String {
        client.write_all(words.as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(client).read_line(&mut answer).unwrap();
        answer
    }

    /// The loop never looks at commands: a client that is answered was answered without the loop.
    #[test]
    fn a_loss_is_read_before_the_loop_hears_of_it() {
        let path = std::env::temp_dir().join(format!("lossylink-reading-{}", std::process::id()));
        let control = Control::listen(&path, false).unwrap();
        for (loss, mend) in [
            (r#"{"model":"bernoulli","p":2}"#, "2 is not a probability"),
            (r#"{"model":"at","positions":[3,3]}"#, "position 3 is given twice"),
            (r#"{"model":"trace","lost":[]}"#, "the trace is empty"),
        ] {
            let answer = asked(&path, &format!("{{\"command\":\"loss\",\"reverse\":{loss}}}\n"));
            assert!(answer.contains(mend), "{loss}: {answer}");
        }
        drop(control);
    }

    #[test]
    fn silent_clients_hold_nobody_out() {
        answering("silent", |path| {
            let silent: Vec<_> = (1..CLIENTS).map(|_| UnixStream::connect(path).unwrap()).collect();
            let mut last = UnixStream::connect(path).unwrap();
            let answer = asked_of(&mut last, "{\"command\":\"counters\"}\n");
            assert_eq!(answer, "{\"asked\":\"Counters\"}\n");
            assert!(asked(path, "").contains("too many clients"));
            drop((silent, last));
        });
    }

    #[test]
    fn its_owner_alone_may_open_it() {
        answering("owner", |path| {
            let mode = fs::metadata(path).unwrap().permissions().mode();
            assert_eq!(mode & 0o777, 0o600);
        });
    }

    #[test]
    fn metrics_have_one_address() {
        answering("metrics", |path| {
            assert!(asked(path, "GET /metrics HTTP/1.1\r\n\r\n").starts_with("HTTP/1.0 200"));
            assert!(asked(path, "GET /metrics?name=x HTTP/1.1\r\n\r\n").starts_with("HTTP/1.0 200"));
            for other in ["/", "/metric", "/metrics/x", ""] {
                let answer = asked(path, &format!("GET {other} HTTP/1.1\r\n\r\n"));
                assert!(answer.starts_with("HTTP/1.0 404"), "{other}: {answer}");
            }
        });
    }
}
