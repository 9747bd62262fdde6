// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The files of several synthetic trials. In each, a near phone has a high alert and a far one none.
struct SampleTrials {
  let folder: TemporaryFolder

  /// - Parameters:
  ///   - near: The sample of the near phone of each trial, in dBm; the infected phone sends with 0 dBm.
  ///   - far: The sample of the far phone of each trial.
  ///   - name: The beginning of the names of the trials.
  init(near: [Int], far: [Int], name: String = "room") throws {
    folder = try TemporaryFolder()
    for (index, samples) in zip(near, far).enumerated() {
      let sample = try SampleTrial(name: "\(name)_\(index)")
      try sample.writeSightings("01", Self.scans(samples.0))
      try sample.writeSightings("02", Self.scans(samples.1))
      try FileManager.default.copyItem(
        at: sample.folder.path("Room"), to: folder.path("Room\(index)"))
    }
  }

  /// Three scans of four minutes each.
  private static func scans(_ sample: Int) -> [(time: String, samples: String)] {
    ["09:02:00", "09:06:00", "09:10:00"].map { (time: $0, samples: "\(sample)") }
  }
}
