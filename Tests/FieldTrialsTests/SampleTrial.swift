// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// The files of a small synthetic trial: an iPhone marked sick, and phones that received its beacons.
struct SampleTrial {
  static let sick = "5EE80A629A96E9D5CB42C33B222365EC"
  static let stranger = "0123456789ABCDEF0123456789ABCDEF"
  /// The interval that begins at 9 o'clock, five hours west of UTC, on 1 March 2021.
  static let interval = 2_691_012

  let folder: TemporaryFolder
  private let zone: String

  /// From 9:00 to 9:30 in `zone`; phone 01 raised a high alert, 02 none. `name` must need no escaping in JSON.
  init(zone: String = "-05", interval: Int = Self.interval, name: String = "room_1") throws {
    folder = try TemporaryFolder()
    self.zone = zone
    try write(
      "Room/room_setup.json",
      """
      {"title": "Room", "phones": [
        {"id": "01", "model": "A", "calconf": "3", "time_offset": 0},
        {"id": "02", "model": "B", "calconf": "1", "time_offset": 0},
        {"id": "99", "model": "C", "calconf": "i", "time_offset": 0, "tx": 0}]}
      """)
    try write(
      "Room/room_1/room_1_info.json",
      """
      {"testId": "\(name)", "startTime": "2021-03-01T9:00:00-0500",
       "stopTime": "2021-03-01T09:30:00-0500", "details": [
        {"agent": "A", "phone": "01", "exposure": "high"},
        {"agent": "B", "phone": "02", "exposure": "none"},
        {"agent": "C", "phone": "99", "exposure": "sick"}]}
      """)
    try log(
      "99",
      """
      Advertisement records:
        2021-03-01T09:00:00\(zone)  RPI=\(Self.sick)  TEK=#0  intervalNum=\(interval) (x)  \
      metadata=fake (ver=0, txPower=3)  encryptedMeta=1FB42E7A
      Sighting records:
      """)
    try writeSightings("01", [("09:02:00", "-50, -52"), ("09:06:30", "-60"), ("09:10:00", "-70")])
    try writeSightings("02", [("09:05:00", "-80, -81")])
  }

  /// Writes the sightings of phone `id`: the sick phone, and another one at 8:58 and 9:40.
  func writeSightings(_ id: String, _ scans: [(time: String, samples: String)]) throws {
    let rows = scans.map { "  2021-03-01T\($0.time)\(zone) (4s) rssi=[\($0.samples)]" }
    try log(
      id,
      """
      Flags:
        rssi_offset = 3
        tx_calibration_power = -24
        calibration_confidence = 3
      Advertisement records:
      Sighting records:
        RPI=\(Self.stranger)\tencryptedMetadata=00000000
          2021-03-01T08:58:00\(zone) (2s) rssi=[-60]
          2021-03-01T09:40:00\(zone) (2s) rssi=[-60]
        RPI=\(Self.sick)\tencryptedMetadata=1FB42E7A
      """ + "\n" + rows.joined(separator: "\n"))
  }

  /// Writes the log of phone `id`.
  func log(_ id: String, _ text: String) throws {
    try write(
      "Room/room_1/2021_03_01_room_1_\(id)/\(id)_dumpsys.txt", "Some data\n\n" + text + "\n")
  }

  func write(_ path: String, _ text: String) throws {
    let file = folder.path(path)
    try FileManager.default.createDirectory(
      at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
    try Data(text.utf8).write(to: file)
  }
}
