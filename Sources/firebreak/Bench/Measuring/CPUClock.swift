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
    // The seconds and nanoseconds of a timespec, whose members another module's headers hide here.
    var time = (seconds: Int(0), nanoseconds: Int(0))
    let status = withUnsafeMutablePointer(to: &time) {
      $0.withMemoryRebound(to: timespec.self, capacity: 1) { clock_gettime(clock, $0) }
    }
    guard status == 0 else { return nil }
    return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
  }
}
