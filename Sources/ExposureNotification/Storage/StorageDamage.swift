// SPDX-License-Identifier: Apache-2.0
import Foundation

/// Data that the device lost because a file was damaged. The file is set aside, and the device goes on
/// with the rest.
///
/// `Device.storageDamage` lists the losses of the last 14 days, so that the app can tell the user and
/// rebuild what can be rebuilt.
public struct StorageDamage: Hashable, Codable, Sendable {
  /// The kind of lost data.
  public let part: StoredData
  /// The start of the UTC day of the lost data; nil if it belongs to no day.
  public let day: Date?
  /// The time when the damage was found.
  public let found: Date
  /// True if the app has been told: by `Device.acknowledgeStorageDamage()`, or by the first request for
  /// keys after own keys were lost, which fails.
  public let isAcknowledged: Bool

  init(_ part: StoredData, day: Day?, found: Date) {
    self.part = part
    self.day = day?.midnight
    self.found = found
    isAcknowledged = false
  }

  private init(acknowledging damage: StorageDamage) {
    part = damage.part
    day = damage.day
    found = damage.found
    isAcknowledged = true
  }

  /// The same damage after the app has been told.
  var acknowledged: StorageDamage { StorageDamage(acknowledging: self) }
}

extension StorageDamage: CustomStringConvertible {
  /// The loss in one sentence without data of the user.
  public var description: String {
    switch part {
    case .consent: "The settings were damaged: turn exposure notification on again."
    case .ownKeys: "The phone's keys\(ofDay) were damaged: they cannot be shared any more."
    case .contacts: "Encounters\(ofDay) were damaged: exposures of that day may be missing."
    case .matches: "Earlier matches were damaged: check the key files of the last 14 days again."
    case .detectionLimits: "The count of detections was damaged: it has started again."
    case .retentionClock: "The stored trusted time was damaged: old data stays for another day."
    case .reports: "The list of damaged data was damaged: check the log for earlier damage."
    }
  }

  private var ofDay: String {
    day.map { " of \($0.formatted(.iso8601.year().month().day()))" } ?? ""
  }
}

/// The kinds of data that a device stores.
public enum StoredData: String, Hashable, Codable, Sendable, CaseIterable {
  /// The user's decisions. Exposure notification is off until the user is asked again.
  case consent
  /// The device's own keys of a day. They cannot be shared any more.
  case ownKeys
  /// Some or all sightings of a day. Exposures of that day may be missing.
  case contacts
  /// The matches of earlier detections, API version 2. `detectExposures` fails with
  /// `ENError.dataInaccessible` until the app has passed the files of the last 14 days again.
  case matches
  /// The calls and files that limit detections. Counting has started again.
  case detectionLimits
  /// The time by which old data is removed. Removal pauses for a day.
  case retentionClock
  /// Earlier reports of damage.
  case reports
}
