import Foundation

/// How much memory the kernel holds for this process, and the most it held since a moment.
///
/// proc(5): resident pages, files' pages included. Writing 5 to `clear_refs` sets the highest mark
/// (`VmHWM`) to what is resident now, so that the mark afterwards is the work's own.
struct MemoryGauge {
  /// Resident when the gauge was set, in bytes.
  let baseline: Int
  /// Whether the mark could be set back. Where not, `peak` is the highest of the whole process.
  let isExact: Bool

  /// Gives back what is free, then begins to measure.
  init() {
    Self.trim()
    isExact = Self.setMarkBack()
    baseline = Self.bytes("VmRSS")
  }

  /// The most that was resident since then, in bytes.
  var peak: Int { max(baseline, Self.bytes("VmHWM")) }

  /// `malloc_trim(0)`, which Swift's view of the C library leaves out: pages that are free but still
  /// held would hide as many pages of the work.
  private static func trim() {
    typealias Trim = @convention(c) (Int) -> Int32
    guard let symbol = dlsym(dlopen(nil, RTLD_NOW), "malloc_trim") else { return }
    _ = unsafeBitCast(symbol, to: Trim.self)(0)
  }

  private static func setMarkBack() -> Bool {
    let file = open("/proc/self/clear_refs", O_WRONLY)
    guard file >= 0 else { return false }
    defer { close(file) }
    return write(file, "5", 1) == 1
  }

  /// The line `name` of the process's status; 0 where there is none.
  private static func bytes(_ name: String) -> Int {
    let status = try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status?.split(separator: "\n").first { $0.hasPrefix(name + ":") }
    let kibibytes = line?.split(whereSeparator: \.isWhitespace).dropFirst().first.flatMap {
      Int($0)
    }
    return (kibibytes ?? 0) << 10
  }
}
