import Foundation
import Terminal

/// The time that the disk alone needs to sync a small write, for comparison with the latency of uploads.
struct DiskSync: Encodable {
  let p50Milliseconds: Double
  let p99Milliseconds: Double
  let longestMilliseconds: Double

  /// About the size of a commit of some uploads.
  private static let writeBytes = 16 << 10
  private static let duration = Duration.seconds(2)
  /// The pause between two writes, so that the disk is loaded as lightly as at half the sustainable rate.
  private static let pause = Duration.milliseconds(2)

  /// Measures the disk of `folder` for two seconds, with a file that is removed afterwards.
  ///
  /// - Throws: `CommandFailure` if the file cannot be written.
  init(in folder: URL) async throws {
    let file = folder.appendingPathComponent("firebreak-disk-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: file) }
    let distribution: Distribution
    do {
      try Data().write(to: file)
      distribution = Distribution(try await Self.times(in: file))
    } catch let error where !(error is CancellationError) {
      throw CommandFailure(
        status: .machineFailed,
        message: "The disk of \(folder.path.printable) cannot be measured: check its free space.")
    }
    p50Milliseconds = distribution.median.rounded(to: 2)
    p99Milliseconds = distribution.percentile(99).rounded(to: 2)
    longestMilliseconds = distribution.maximum.rounded(to: 2)
  }

  /// The times of the writes, in milliseconds.
  private static func times(in file: URL) async throws -> [Double] {
    let handle = try FileHandle(forWritingTo: file)
    defer { try? handle.close() }
    let bytes = Data(repeating: 1, count: writeBytes)
    let end = ContinuousClock.now + duration
    var times: [Double] = []
    while .now < end {
      let start = ContinuousClock.now
      try handle.write(contentsOf: bytes)
      guard fdatasync(handle.fileDescriptor) == 0 else { throw POSIXError(.EIO) }
      times.append((ContinuousClock.now - start) / .milliseconds(1))
      try await Task.sleep(for: pause)
    }
    return times
  }

  var text: String {
    "p50 \(p50Milliseconds) ms, p99 \(p99Milliseconds) ms, longest \(longestMilliseconds) ms"
  }
}
