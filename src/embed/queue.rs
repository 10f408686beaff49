//! A bounded queue between callers and the threads that own a model.
//!
//! Unlike the standard library's channel it has several takers, and a taker tires of waiting.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// What a taker gets.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken<T> {
    /// The item that waited longest.
    Item(T),
    /// Nothing came in the time given.
    Idle,
    /// The queue is closed and empty.
    Closed,
}

/// First in, first out, for `capacity` items.
#[derive(Debug)]
pub(super) struct Queue<T> {
    state: Mutex<State<T>>,
    arrived: Condvar,
    left: Condvar,
    capacity: usize,
}

#[derive(Debug)]
struct State<T> {
    items: VecDeque<T>,
    /// Takers that wait.
    idle: usize,
    closed: bool,
}

impl<T> Queue<T> {
    /// Room for `capacity` items (at least one).
    pub(super) fn new(capacity: usize) -> Self {
        Self {
            state: Mutex::new(State {
                items: VecDeque::new(),
                idle: 0,
                closed: false,
            }),
            arrived: Condvar::new(),
            left: Condvar::new(),
            capacity: capacity.max(1),
        }
    }

    /// Puts `item` at the end; gives it back where there is no room. A closed queue drops it.
    pub(super) fn try_push(&self, item: T) -> Result<(), T> {
        let mut state = self.lock();
        if state.closed {
            return Ok(());
        }
        if state.items.len() >= self.capacity {
            return Err(item);
        }
        state.items.push_back(item);
        drop(state);
        self.arrived.notify_one();
        Ok(())
    }

    /// Waits until there may be room, or the queue is closed.
    pub(super) fn wait_for_room(&self) {
        let mut state = self.lock();
        while state.items.len() >= self.capacity && !state.closed {
            state = self
                .left
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// More items wait than takers do.
    pub(super) fn is_short_handed(&self) -> bool {
        let state = self.lock();
        state.items.len() > state.idle
    }

    /// Nothing waits.
    pub(super) fn is_empty(&self) -> bool {
        self.lock().items.is_empty()
    }

    /// Waits up to `patience` for an item.
    pub(super) fn take(&self, patience: Duration) -> Taken<T> {
        let deadline = Instant::now() + patience;
        let mut state = self.lock();
        loop {
            if let Some(item) = state.items.pop_front() {
                drop(state);
                self.left.notify_all();
                return Taken::Item(item);
            }
            if state.closed {
                return Taken::Closed;
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Taken::Idle;
            }
            state.idle += 1;
            state = self
                .arrived
                .wait_timeout(state, left)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
            state.idle -= 1;
        }
    }

    /// Refuses further items. Those waiting are still taken.
    pub(super) fn close(&self) {
        self.lock().closed = true;
        self.arrived.notify_all();
        self.left.notify_all();
    }

    /// No step here leaves the state half changed, so a poisoned lock is a usable one.
    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;

    const LONG: Duration = Duration::from_secs(10);

    #[test]
    fn what_came_first_leaves_first_and_a_closed_queue_is_emptied() {
        let queue = Queue::new(8);
        for item in 1..=2 {
            queue.try_push(item).unwrap();
        }
        assert_eq!(queue.take(LONG), Taken::Item(1));
        queue.close();
        queue.try_push(3).unwrap();
        assert_eq!(queue.take(LONG), Taken::Item(2));
        assert_eq!(queue.take(LONG), Taken::Closed);
    }

    #[test]
    fn a_taker_tires_of_waiting() {
        let queue = Queue::<u8>::new(1);
        assert_eq!(queue.take(Duration::from_millis(5)), Taken::Idle);
    }

    #[test]
    fn a_full_queue_makes_callers_wait_and_loses_nothing() {
        let queue = Arc::new(Queue::new(2));
        let writers: Vec<_> = (0..4)
            .map(|writer| {
                let queue = Arc::clone(&queue);
                std::thread::spawn(move || {
                    for item in 0..100 {
                        let mut item = writer * 100 + item;
                        while let Err(back) = queue.try_push(item) {
                            item = back;
                            queue.wait_for_room();
                        }
                    }
                })
            })
            .collect();
        let mut seen = Vec::new();
        while seen.len() < 400 {
            let Taken::Item(item) = queue.take(LONG) else {
                panic!("the queue went quiet");
            };
            seen.push(item);
        }
        writers
            .into_iter()
            .for_each(|writer| writer.join().unwrap());
        seen.sort_unstable();
        assert_eq!(seen, (0..400).collect::<Vec<_>>());
    }

    #[test]
    fn closing_releases_who_waits_for_room() {
        let queue = Arc::new(Queue::new(1));
        queue.try_push(1).unwrap();
        assert_eq!(queue.try_push(2), Err(2));
        let waiting = Arc::clone(&queue);
        let writer = std::thread::spawn(move || waiting.wait_for_room());
        std::thread::sleep(Duration::from_millis(20));
        queue.close();
        writer.join().unwrap();
    }
}
