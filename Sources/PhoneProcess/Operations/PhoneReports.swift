import Foundation

// The JSON objects of the commands. Times are Unix seconds. The names are a promise to other programs, and so is `null`
// for an absent value where a property is `@Nullable`.

/// The state of a phone: `status --json`.
struct StatusReport: Encodable {
  /// True if the owner has turned exposure notifications on.
  var enabled: Bool
  /// True if the owner has allowed them.
  var authorized: Bool
  /// True if beacons are sent and received; false without a running phone.
  var bluetooth: Bool
  /// The risk level of the last fourteen days, 0 to 3; `nil` while it is unknown.
  @Nullable var riskLevel: Int?
  /// The number of exposures of the last fourteen days.
  var exposures: Int
  /// The time of the last complete check; `nil` before the first.
  @Nullable var lastCheck: Date?
  /// The reason of the last failure; `nil` if the last check succeeded.
  @Nullable var lastFailure: String?
  /// The number of notices that are shown.
  var notices: Int
  /// True if an unfinished upload can be continued.
  var pendingUpload: Bool
  /// The time of the next check; `nil` if the phone is not running.
  @Nullable var nextCheck: Date?
  /// True if the health authority has paused checks and uploads.
  var paused: Bool
  /// The reason why the last device configuration was rejected; `nil` if it was accepted.
  @Nullable var configurationRefused: String?
  /// The condition of the app's storage: `ready` or a kind of damage.
  var storage: String
  /// The kinds of stored data that were damaged and are not restored.
  var damaged: [String]
  /// The notices with their texts.
  var shownNotices: [NoticeReport]
}

/// A notice that is shown, or was in the last fourteen days.
struct NoticeReport: Encodable {
  let id: String
  let identifier: String
  let title: String
  let body: String
  let time: Date
}

/// The result of `check`.
struct CheckReport: Encodable {
  let ok: Bool
  @Nullable var riskLevel: Int?
  @Nullable var failure: String?
  /// True if the health authority has paused checks.
  let paused: Bool
  /// The reason why the last device configuration was rejected; `nil` if it was accepted.
  @Nullable var configurationRefused: String?
}

/// The result of `enable` and `disable`.
struct EnableReport: Encodable {
  let enabled: Bool
  let outcome: String
}

/// The checks of the last fourteen days: `history`.
struct HistoryReport: Encodable {
  let checks: [Check]
  let notices: [NoticeReport]
  @Nullable var lastCheck: Date?
  let keysToday: Int
  let keysInSevenDays: Int
  let keysTotal: Int

  /// A check that analysed key files.
  struct Check: Encodable {
    let id: String
    let time: Date
    let keys: Int
    let matchedKeys: Int
    @Nullable var riskLevel: Int?
  }
}

/// The exposures of the last fourteen days, newest first: `exposures`.
struct ExposuresReport: Encodable {
  @Nullable var riskLevel: Int?
  let exposures: [Day]

  /// An encounter, or a day of encounters.
  struct Day: Encodable {
    let id: String
    /// `YYYY-MM-DD`.
    let date: String
    let seconds: Int
    let riskScore: Int
    /// The level of the policy for exposure windows: 1 or 2; `nil` without one.
    let level: Int?
  }
}

/// The result of `upload`.
struct UploadReport: Encodable {
  let ok: Bool
  /// The category of ProteGO Safe: 1 to 5.
  let result: Int
  /// The reason of a failure.
  let reason: String?
}

/// The result of `travel`.
struct TravelReport: Encodable {
  /// True if the owner has left the region; `nil` if nothing was recorded.
  @Nullable var traveled: Bool?
  let region: String
  /// True if damaged stays were found in the last fourteen days.
  let incomplete: Bool
}

/// The result of `start-over`.
struct StartOverReport: Encodable {
  let startedOver: Bool
}

/// The result of `remove`.
struct RemovalReport: Encodable {
  let removed: String
}

/// All data about the owner: `export-my-data`. Keys and received identifiers are only counted: the keys would let
/// others recognize the owner, the identifiers belong to other people.
struct OwnerDataReport: Encodable {
  let status: StatusReport
  let exposures: ExposuresReport
  let history: HistoryReport
  let stays: [Stay]
  /// The number of own keys that the phone stores.
  let ownKeys: Int
  let received: [Day]
  /// The record of sent requests and beacons.
  let sent: PhoneMessages
  let preferences: Preferences

  /// The choices of the owner for the user interface.
  struct Preferences: Encodable {
    let language: Language
    let hidesDetails: Bool
    let notifications: Bool
  }

  /// The last stay in a region.
  struct Stay: Encodable {
    let region: String
    let time: Date
  }

  /// The received beacons of one day.
  struct Day: Encodable {
    /// `YYYY-MM-DD`.
    let date: String
    let beacons: Int
  }
}

/// The result of `hear`.
struct HeardReport: Encodable {
  let scans: Int
  let beacons: Int
}

/// The identifiers that a phone has sent: `sent`.
struct SentReport: Encodable {
  let sent: [Beacon]

  /// A sent beacon, in the names of the CSV of `match`.
  struct Beacon: Encodable {
    let rpi: String
    let aem: String
    let unix_time: Int64
  }
}
