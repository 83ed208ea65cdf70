"""A flash die: one operation at a time, reads before programs.

A read waits for the reads that came before it and for a program or an erase that is under way; if the die can
suspend, only until it has. A program or an erase is suspended a limited number of times; then reads wait for its end,
or it would never come on a die that is read all the time. Programs and erases that have not begun wait for all reads:
they stand in a queue of their own and are worked off lazily, in the times when no read has the die, each time somebody
asks. So background work (garbage collection, folding, the draining of the write buffer) costs no event.

Sources: Wu and He, "Reducing SSD read latency via NAND flash program and erase suspension", FAST 2012 (what a read
waits for, and that the rest of the program goes on afterwards); ONFI 5.1, section 5 (program/erase suspend is a command
of the die); Zambelli et al., "Assessing the role of program suspend operation in 3D NAND flash based solid state
drives", Electronics 10(12), 2021; US patent application of Intel, "Multi-tiered progressive memory program operation
suspend and resume" (a maximum number of suspensions of a program); Kim, Seo and Kim, "SSR: smart suspend/resume
technique", J. KICS 50(9), 2025 (erases and writes starve without one).

Limits: resuming costs nothing; the number is assumed, makers do not publish it.
"""

from __future__ import annotations

from collections import deque

from .timeline import Timeline


class Work:
    """A program whose end somebody waits for.

    Attributes
    ----------
    die
        Where it is booked; None before it is.
    done
        When it ended (s), or will whatever comes; -1 if reads may still delay it.
    """

    __slots__ = ("die", "done")

    def __init__(self) -> None:
        self.die: Die | None = None
        self.done = -1.0

    def ends(self, now: float) -> float:
        """When it is over (s), if no more reads come from `now` on (s)."""
        die = self.die
        if self.done < 0.0 and die is not None:
            return die.end_of(now, self)
        return self.done


class Die:
    """One die.

    Parameters
    ----------
    suspend_s
        Time (s) after which a read interrupts what is under way; None: it waits until that is over.
    suspensions
        Times that one program or erase is interrupted at most.
    channel
        The bus it is on.

    Attributes
    ----------
    free
        When the last read booked is over (s), and what had begun before it.
    background
        Programs, erases and reads of garbage collection that are not over, in order: time from which it can begin,
        duration, how often it was interrupted, and what waits for it.
    book_channel
        Books a transfer on its channel: :meth:`~.timeline.Timeline.book`.
    busy_s
        Time (s) booked in the background; reads are counted by the drive.
    """

    __slots__ = ("_end", "background", "book_channel", "busy_s", "free", "suspend_s", "suspensions")

    def __init__(self, suspend_s: float | None, channel: Timeline, suspensions: int = 1 << 30) -> None:
        self.suspend_s = suspend_s
        self.suspensions = suspensions
        self.book_channel = channel.book
        self.free = 0.0
        self.background: deque[tuple[float, float, int, Work | None]] = deque()
        self.busy_s = 0.0
        self._end = 0.0  # of the background, or -1 where a read has moved it

    def read(self, arrival: float, duration: float) -> float:
        """Read for the host from `arrival` (s) on, for `duration` (s); when the data is in the die's register (s)."""
        if self.background:
            self.give_way(arrival)
        free = self.free
        self.free = done = (free if free > arrival else arrival) + duration
        return done

    def book(self, now: float, ready: float, duration: float, work: Work | None = None) -> float:
        """Do something in the background, not before `ready` (s); when it is over if no read comes (s).

        Parameters
        ----------
        now
            The current time (s).
        work
            What waits for its end.
        """
        self.busy_s += duration
        background = self.background
        end = self._end
        if background and background[0][0] < now:
            self._work_off(now)
        if end < 0:
            end = self.free
            for from_s, lasts, _, _ in background:
                end = (from_s if from_s > end else end) + lasts
        elif end < self.free:
            end = self.free
        background.append((ready, duration, 0, work))
        if work is not None:
            work.die = self
        self._end = end = (ready if ready > end else end) + duration
        return end

    def fetch(self, now: float, duration: float) -> float:
        """Read in the background: after what is under way, before programs that have not begun; when it is over (s)."""
        self.busy_s += duration
        self._work_off(now)
        background = self.background
        end = self.free if self.free > now else now
        if background and (background[0][0] if background[0][0] > self.free else self.free) < now:
            end = max(background[0][0], self.free) + background[0][1]
            background.insert(1, (now, duration, 0, None))
        else:
            background.appendleft((now, duration, 0, None))
        self._end = -1.0
        return end + duration

    def is_idle(self, now: float, at: float) -> bool:
        """Whether it has nothing in the background `now` (s), and no read that ends after `at` (s)."""
        if self.background:
            self._work_off(now)
        return not self.background and self.free <= at

    def end_of(self, now: float, work: Work) -> float:
        """When `work`, which is booked here, is over if no more reads come from `now` on (s)."""
        self._work_off(now)
        if work.done >= 0.0:
            return work.done
        end = self.free
        for ready, duration, _, waits in self.background:
            end = (ready if ready > end else end) + duration
            if waits is work:
                break
        return end

    def _work_off(self, until: float) -> None:
        """Forget what is over before `until` (s)."""
        free, background = self.free, self.background
        while background:
            ready, duration, _, work = background[0]
            end = (ready if ready > free else free) + duration
            if end > until:
                break
            free = end
            background.popleft()
            if work is not None:
                work.done = end
        self.free = free

    def give_way(self, arrival: float) -> None:
        """A read arrives: what is under way is finished or suspended, the rest waits."""
        free, background = self.free, self.background
        # The same as _work_off(), which leaves at the head what is not over at the arrival.
        while True:
            ready, duration, interrupted, work = background[0]
            begin = ready if ready > free else free
            end = begin + duration
            if end > arrival:
                break
            free = end
            background.popleft()
            if work is not None:
                work.done = end
            if not background:
                self.free = free
                return
        self.free = free
        if begin < arrival:
            suspend_s = self.suspend_s
            if suspend_s is None or end - arrival <= suspend_s or interrupted >= self.suspensions:
                self.free = end
                background.popleft()
                if work is not None:
                    work.done = end
            else:
                background[0] = arrival, end - arrival, interrupted + 1, work
                self.free = arrival + suspend_s
                self.busy_s += suspend_s
        self._end = -1.0
