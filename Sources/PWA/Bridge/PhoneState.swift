import Foundation

/// The state of a phone: the content of message 1000.
package struct PhoneState: Hashable, Sendable {
  /// `new`, `declined`, `consented` or `finished`.
  package var onboarding = "new"
  package var isEnabled = false
  package var isAuthorized = false
  package var isBluetoothOn = false
  /// False if the phone cannot have exposure notifications.
  package var isSupported = true
  /// 0 to 3; `nil` while it is unknown.
  package var riskLevel: Int?
  package var exposureCount = 0
  package var lastCheck: Date?
  /// The name of a `CheckFailure`.
  package var lastFailure: String?
  package var nextCheck: Date?
  package var isChecking = false
  /// True while the health authority has paused checks.
  package var isPaused = false
  package var configurationRefused: String?
  package var storage = "ready"
  package var damaged: [String] = []
  package var hasPendingUpload = false
  /// `waitingForConsent`, `requestingToken` or `sending` during an upload.
  package var upload: String?
  package var language = "en"
  package var hidesDetails = false
  package var notifications = true
  package var isDeveloper = false
  package var region = ""
  package var lastCheckKeys = 0
  package var notices: [Notice] = []
  package var version = ""
  package var now = Date(timeIntervalSince1970: 0)

  /// A notice that is shown.
  package struct Notice: Hashable, Sendable {
    package let id: String
    package let kind: String
    package let time: Date
    package let title: String
    package let body: String

    /// Creates a notice.
    package init(id: String, kind: String, time: Date, title: String, body: String) {
      self.id = id
      self.kind = kind
      self.time = time
      self.title = title
      self.body = body
    }

    var json: JSONValue {
      [
        "id": .string(id), "kind": .string(kind), "time": .integer(time.unixSeconds),
        "title": .string(title), "body": .string(body),
      ]
    }
  }

  /// The state of a new phone.
  package init() {}

  /// The risk level of messages 61 and 66, which have no word for an unknown one.
  package var contractRiskLevel: Int { riskLevel ?? 0 }

  var json: JSONValue {
    [
      "onboarding": .string(onboarding), "enabled": .bool(isEnabled),
      "authorized": .bool(isAuthorized), "bluetooth": .bool(isBluetoothOn),
      "supported": .bool(isSupported), "riskLevel": JSONValue(riskLevel),
      "exposures": .integer(exposureCount), "lastCheck": JSONValue(lastCheck),
      "lastFailure": JSONValue(optional: lastFailure), "nextCheck": JSONValue(nextCheck),
      "checking": .bool(isChecking), "paused": .bool(isPaused),
      "configurationRefused": JSONValue(optional: configurationRefused),
      "storage": .string(storage), "damaged": .array(damaged.map(JSONValue.string)),
      "pendingUpload": .bool(hasPendingUpload), "upload": JSONValue(optional: upload),
      "language": .string(language), "hidesDetails": .bool(hidesDetails),
      "notifications": .bool(notifications), "developer": .bool(isDeveloper),
      "region": .string(region), "lastCheckKeys": .integer(lastCheckKeys),
      "notices": .array(notices.map(\.json)), "version": .string(version),
      "now": .integer(now.unixSeconds),
    ]
  }
}
