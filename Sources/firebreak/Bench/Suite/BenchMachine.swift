import ExposureNotification
import Foundation

/// On what, with what and when a set of figures was measured.
struct BenchMachine {
  /// As `swift --version` has it.
  let compiler: String
  /// As the kernel names it.
  let processor: String
  /// Whether it is of the reference's family, AMD's 26 (Zen 5): there the times are judged whatever the bare
  /// kernels take, for these are ours as well.
  let isOfTheReferencesFamily: Bool
  let cores: Int
  /// Processes that wanted to run, on average of the last minute.
  let load: Double

  init(compiler: String) {
    self.compiler = compiler
    cores = ProcessInfo.processInfo.activeProcessorCount
    let lines = (try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8)) ?? ""
    func first(_ field: String) -> String? {
      lines.split(separator: "\n").first { $0.hasPrefix(field) }?
        .split(separator: ":").last?.trimmingCharacters(in: .whitespaces)
    }
    let tiers = MatchTier.available.map(\.rawValue).joined(separator: ", ")
    processor =
      [first("model name") ?? "unknown", first("cpu family").map { "family \($0)" }]
      .compactMap(\.self).joined(separator: ", ") + "; tiers: \(tiers)"
    isOfTheReferencesFamily = first("vendor_id") == "AuthenticAMD" && first("cpu family") == "26"
    load = Self.load()
  }

  static func load() -> Double {
    var average = [0.0]
    return getloadavg(&average, 1) == 1 ? average[0].rounded(to: 2) : 0
  }
}
