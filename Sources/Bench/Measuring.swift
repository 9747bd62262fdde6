// SPDX-License-Identifier: Apache-2.0
import Foundation
import Terminal

/// The time that a piece of work took.
package struct ElapsedTime {
  /// The processor time of all threads of this process.
  package let cpu: Duration
  /// The elapsed time.
  package let wall: Duration

  /// Runs `work` and measures it.
  package static func measure<Result>(
    _ work: () throws -> Result
  ) rethrows -> (result: Result, time: ElapsedTime) {
    let cpu = CPUClock.currentProcess.now ?? .zero
    let wall = ContinuousClock.now
    let result = try work()
    let spentWall = ContinuousClock.now - wall
    let spentCPU = (CPUClock.currentProcess.now ?? .zero) - cpu
    return (result, ElapsedTime(cpu: spentCPU, wall: spentWall))
  }
}

/// The processor time of a process, summed over its threads.
package struct CPUClock {
  private let clock: clockid_t

  package static let currentProcess = CPUClock(clock: CLOCK_PROCESS_CPUTIME_ID)

  private init(clock: clockid_t) {
    self.clock = clock
  }

  /// The clock of another process of the same user; nil if there is no such process.
  package init?(process: pid_t) {
    var clock = clockid_t()
    guard clock_getcpuclockid(process, &clock) == 0 else { return nil }
    self.clock = clock
  }

  /// The time used so far; nil if the process has ended.
  package var now: Duration? {
    // Two words in the layout of `timespec`, whose members are hidden by another module's headers.
    var time = (seconds: Int(0), nanoseconds: Int(0))
    let status = withUnsafeMutablePointer(to: &time) {
      $0.withMemoryRebound(to: timespec.self, capacity: 1) { clock_gettime(clock, $0) }
    }
    guard status == 0 else { return nil }
    return .seconds(time.seconds) + .nanoseconds(time.nanoseconds)
  }
}

/// The resident memory of this process now, and its peak since the gauge was created.
///
/// See proc(5): resident pages include those of mapped files. Writing 5 to `clear_refs` resets the peak (`VmHWM`) to
/// the present value.
package struct MemoryGauge {
  /// The resident memory in bytes when the gauge was created.
  package let baseline: Int
  /// The part of it that is mapped files, in bytes: the program and its libraries. The system shares these
  /// pages between processes and can drop them at any time.
  package let program: Int

  /// Returns free memory to the system and starts measuring.
  package init() {
    Self.trim()
    if !Self.resetPeak() {
      note("The memory peak cannot be reset here: it covers the whole life of the process.")
    }
    baseline = Self.bytes("VmRSS")
    program = Self.bytes("RssFile")
  }

  /// The peak of the resident memory since then, in bytes.
  package var peak: Int { max(baseline, Self.bytes("VmHWM")) }

  /// Calls `malloc_trim(0)`, which the Glibc module does not export. Free pages that the allocator holds would hide
  /// as many pages of the measured work.
  private static func trim() {
    typealias Trim = @convention(c) (Int) -> Int32
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "malloc_trim") else { return }
    _ = unsafeBitCast(symbol, to: Trim.self)(0)
  }

  private static func resetPeak() -> Bool {
    let file = open("/proc/self/clear_refs", O_WRONLY)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, "5", 1) == 1
  }

  /// The value of a line of `/proc/self/status`; 0 if it is missing.
  private static func bytes(_ name: String) -> Int {
    let status = FileManager.default.contents(atPath: "/proc/self/status") ?? Data()
    let line = String(decoding: status, as: UTF8.self).split(separator: "\n").first {
      $0.hasPrefix(name + ":")
    }
    let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap {
      Int($0)
    }
    return (kibibytes ?? 0) << 10
  }
}

/// A set of measured values.
package struct Distribution {
  private let sorted: [Double]

  package init(_ values: [Double]) {
    sorted = values.sorted()
  }

  package var minimum: Double { sorted.first ?? 0 }
  package var median: Double { percentile(50) }
  package var maximum: Double { sorted.last ?? 0 }

  /// The nearest-rank percentile; 0 if there are no values.
  package func percentile(_ share: Int) -> Double {
    guard !sorted.isEmpty else { return 0 }
    let rank = (sorted.count * share + 99) / 100
    return sorted[min(max(rank, 1), sorted.count) - 1]
  }

  /// The Kolmogorov-Smirnov statistic of the two distributions, 0 to 1.
  func distance(to other: Distribution) -> Double {
    var (here, there, largest) = (0, 0, 0.0)
    for value in Set(sorted).union(other.sorted).sorted() {
      while here < sorted.count, sorted[here] <= value { here += 1 }
      while there < other.sorted.count, other.sorted[there] <= value { there += 1 }
      let shares = (
        Double(here) / Double(max(1, sorted.count)),
        Double(there) / Double(max(1, other.sorted.count))
      )
      largest = max(largest, abs(shares.0 - shares.1))
    }
    return largest
  }

  /// True if a Kolmogorov-Smirnov test at a level of 0.001 does not tell the distributions apart.
  func isLike(_ other: Distribution) -> Bool {
    let (count, others) = (Double(sorted.count), Double(other.sorted.count))
    guard count > 0, others > 0 else { return false }
    return distance(to: other) <= 1.95 * ((count + others) / (count * others)).squareRoot()
  }
}

extension Double {
  /// Rounds to a number of decimal places.
  package func rounded(to places: Int) -> Double {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    return (self * scale).rounded() / scale
  }
}
