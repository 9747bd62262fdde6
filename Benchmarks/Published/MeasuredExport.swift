// SPDX-License-Identifier: Apache-2.0
import Bench
import Terminal

/// An export of one file, as `firebreak bench export` prints it.
struct MeasuredExport: Decodable {
  let seconds: Double
  let processorSeconds: Double
  let peakMemoryMiB: Double
  /// Nil from an earlier version.
  let programMemoryMiB: Double?
  /// Nil from an earlier version.
  let zlib: ZlibTimes?

  /// The number of keys for which the targets were set.
  static let judgedKeys = 500_000
  private static let memoryMiBMax = 40.0

  /// The peak of the process without the program and its libraries.
  var ownMemoryMiB: Double? {
    programMemoryMiB.map { (peakMemoryMiB - $0).rounded(to: 1) }
  }

  /// The figures of an export of `keys` keys beside their targets.
  ///
  /// - Parameters:
  ///   - processorSeconds: The processor time of all processes.
  ///   - secondsMax: The target on the reference, in seconds.
  static func figures(
    _ keys: Int, processorSeconds: Double, atMost secondsMax: Double, zlib: ZlibTimes?,
    ownMemoryMiB: Double?
  ) -> [JudgedFigure] {
    let isJudged = keys == judgedKeys
    func figure(_ name: String, _ value: Double, _ most: Double) -> JudgedFigure {
      JudgedFigure(
        "export of \(keys) keys, \(name)", value,
        isJudged ? BenchmarkTarget.Bound.atMost(most) : nil)
    }
    let besideZlib = zlib.map {
      let nanoseconds = processorSeconds * 1e9 / Double(max(keys, 1))
      return JudgedFigure(
        "export of \(keys) keys, processor time beside zlib's for the deflate, ratio",
        (nanoseconds / max($0.deflateNanoseconds, 1)).rounded(to: 2), nil)
    }
    let memory = ownMemoryMiB.map { figure("peak without the program, MiB", $0, memoryMiBMax) }
    return [figure("processor time, s", processorSeconds, secondsMax)]
      + [besideZlib, memory].compactMap(\.self)
  }
}
