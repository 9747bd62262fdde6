import Foundation

/// The processor time of a process, all its threads together.
struct CPUClock {
  private let clock: clockid_t

  /// The clock of this process.
  static let ofThisProcess = CPUClock(clock: CLOCK_PROCESS_CPUTIME_ID)

  private init(clock: clockid_t) {
    self.clock = clock
  }

  /// The clock of another process of the same user; nil where there is none.
  init?(process: pid_t) {
    var clock = clockid_t()
    guard clock_getcpuclockid(process, &clock) == 0 else { return nil }
    self.clock = clock
  }

  /// What has been used so far; nil where the process is gone.
  var now: Duration? {
    var time = timespec()
    guard clock_gettime(clock, &time) == 0 else { return nil }
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
