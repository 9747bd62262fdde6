/// The rows of message 90. Every row has an identifier, with which message 91 removes it.
package struct PhoneActivities: Hashable, Sendable {
  // Times are Unix seconds.

  /// A notice.
  package struct Notification: Hashable, Sendable {
    package let id: String
    package let time: Int
    package let title: String
    package let content: String

    package init(id: String, time: Int, title: String, content: String) {
      self.id = id
      self.time = time
      self.title = title
      self.content = content
    }
  }

  /// A check that analysed key files.
  package struct RiskCheck: Hashable, Sendable {
    package let id: String
    package let time: Int
    package let exposures: Int
    package let keys: Int

    package init(id: String, time: Int, exposures: Int, keys: Int) {
      self.id = id
      self.time = time
      self.exposures = exposures
      self.keys = keys
    }
  }

  /// A check that found exposures.
  package struct Exposure: Hashable, Sendable {
    package let id: String
    package let time: Int
    package let exposures: Int
    package let riskLevel: Int

    package init(id: String, time: Int, exposures: Int, riskLevel: Int) {
      self.id = id
      self.time = time
      self.exposures = exposures
      self.riskLevel = riskLevel
    }
  }

  package var notifications: [Notification]
  package var riskChecks: [RiskCheck]
  package var exposures: [Exposure]

  package init(
    notifications: [Notification] = [], riskChecks: [RiskCheck] = [], exposures: [Exposure] = []
  ) {
    self.notifications = notifications
    self.riskChecks = riskChecks
    self.exposures = exposures
  }

  var json: JSONValue {
    [
      "notifications": .array(
        notifications.map {
          [
            "id": .string($0.id), "timestamp": .integer($0.time),
            "title": .string($0.title), "content": .string($0.content),
          ]
        }),
      "riskChecks": .array(
        riskChecks.map {
          [
            "id": .string($0.id), "timestamp": .integer($0.time),
            "exposures": .integer($0.exposures), "keys": .integer($0.keys),
          ]
        }),
      "exposures": .array(
        exposures.map {
          [
            "id": .string($0.id), "timestamp": .integer($0.time),
            "exposures": .integer($0.exposures), "riskLevel": .integer($0.riskLevel),
          ]
        }),
    ]
  }
}

/// The identifiers of rows to remove.
package struct PhoneActivityRows: Hashable, Sendable {
  package let notifications: [String]
  package let riskChecks: [String]
  package let exposures: [String]

  /// Reads the content of message 91; a missing list is empty.
  init(_ content: BridgeMessage) {
    notifications = content["notifications"]?.asIdentifiers ?? []
    riskChecks = content["riskChecks"]?.asIdentifiers ?? []
    exposures = content["exposures"]?.asIdentifiers ?? []
  }
}

/// The numbers of message 103.
package struct PhoneCheckTotals: Hashable, Sendable {
  package let lastCheck: Int?
  package let today: Int
  package let lastSevenDays: Int
  package let total: Int

  package init(lastCheck: Int?, today: Int, lastSevenDays: Int, total: Int) {
    self.lastCheck = lastCheck
    self.today = today
    self.lastSevenDays = lastSevenDays
    self.total = total
  }

  /// Empty before the first check.
  var json: JSONValue {
    guard let lastCheck else { return [:] }
    return [
      "riskCheck": [
        "lastRiskCheckTimestamp": .integer(lastCheck),
        "todayKeysCount": .integer(today), "last7daysKeysCount": .integer(lastSevenDays),
        "totalKeysCount": .integer(total),
      ]
    ]
  }
}
