// SPDX-License-Identifier: Apache-2.0
import ExposureNotification
import Foundation
import KeyServerAPI
import World

/// A notification for the user. Its texts are those of the program that shows it.
public struct Notice: Sendable, Hashable {
  /// The kind of a notice. At most one notice of each kind is shown.
  public enum Identifier: String, Sendable, Codable, CaseIterable {
    /// There was an encounter on a day of which the user was not told.
    case risk = "risk"
    /// An encounter of which the user was told was withdrawn.
    case riskCorrected = "risk-corrected"
    /// The app has finished an upload by itself, or could not.
    case upload = "upload"
    /// Bluetooth is off, so no encounters are recorded.
    case bluetoothOff = "bluetooth-off"
    /// The phone's clock is wrong.
    case clockWrong = "clock-wrong"
    /// No check has been complete for two days.
    case checksFailing = "checks-failing"
    /// The user had allowed exposure notifications, and they are not allowed any more.
    case permissionLost = "permission-lost"
    /// Stored data was damaged.
    case storageDamaged = "storage-damaged"
  }

  /// The reason of a notice, from which a text in any language can be made.
  public enum Cause: Sendable, Hashable, Codable {
    /// There was an encounter with this risk.
    case risk(RiskLevel)
    /// An encounter of which the user was told was withdrawn.
    case riskCorrected
    /// The app has finished an upload by itself.
    case uploadFinished
    /// The app could not finish an upload.
    case uploadUnfinished
    /// The keys of the following days are not shared any more, because the permit is not valid.
    case followingDaysRefused
    /// Bluetooth is off.
    case bluetoothOff
    /// The phone's clock is wrong, so encounters cannot be found.
    case clockWrong
    /// No check has been complete for two days; the last failure.
    case checksFailing(CheckFailure)
    /// Exposure notifications are not allowed any more.
    case permissionLost
    /// The store is not open.
    case storage(StorageCondition)
    /// These data were damaged.
    case damage([DataDamage.Content])
  }

  /// The reason of the notice.
  public let cause: Cause
  /// The days that a risk notice is about, as numbers of days since 1970; empty for other notices.
  public var days: Set<Int> = []

  /// Creates a notice.
  public init(_ cause: Cause) { self.cause = cause }

  /// The kind of the notice.
  public var identifier: Identifier { cause.identifier }

  /// The risk level that the notice reports, if any.
  public var riskLevel: RiskLevel? { if case .risk(let level) = cause { level } else { nil } }
}

extension Notice.Cause {
  /// The kind of the notice.
  public var identifier: Notice.Identifier {
    switch self {
    case .risk: .risk
    case .riskCorrected: .riskCorrected
    case .uploadFinished, .uploadUnfinished, .followingDaysRefused: .upload
    case .bluetoothOff: .bluetoothOff
    case .clockWrong: .clockWrong
    case .checksFailing: .checksFailing
    case .permissionLost: .permissionLost
    case .storage, .damage: .storageDamaged
    }
  }
}

/// Shows notices: the system's notification centre, or a recording in tests and simulations.
public protocol NoticeSink: Sendable {
  /// Shows a notice and replaces one of the same kind.
  func show(_ notice: Notice) async
  /// Removes the notice of this kind if it is shown.
  func remove(_ identifier: Notice.Identifier) async
}
