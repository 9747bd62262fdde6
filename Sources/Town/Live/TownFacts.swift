// SPDX-License-Identifier: Apache-2.0
import Foundation
import PhoneProcess
import Simulation
import TextEncodings
import World

/// The state that the town page shows, as one JSON object. Times are Unix seconds of the rehearsal's clock.
package struct TownFacts: Encodable, Sendable {
  /// A person and their phone.
  struct Person: Encodable, Sendable {
    let name: String
    let x: Double
    let y: Double
    let walks: Bool
    /// The address of the phone's web app.
    let web: String
    /// `false` if the phone does not answer.
    let isRunning: Bool
    let isEnabled: Bool
    let sends: Bool
    /// The number of scans that received another phone, since the start of the town.
    let receivingScans: Int
    let riskLevel: Int?
    let lastCheck: Int?
    let notices: [ResidentReport.Status.Notice]
    /// The time of the person's last diagnosis.
    let diagnosed: Double?
    /// The PIN that was issued without the console for this diagnosis.
    let pin: String?
    /// The number of uploads that the key server accepted.
    let uploads: Int
  }

  /// A message between two parties: a request and its response.
  struct Message: Encodable, Sendable {
    let id: String
    let time: Int
    /// The name of a person, or `official`.
    let from: String
    /// `keyServer`, `verificationServer`, `statistics`, or the name of a person for beacons.
    let to: String
    let kind: String
    /// The number of beacons; `nil` for requests.
    var count: Int?
    /// Bytes of the request's body.
    let sent: Int
    /// Bytes of the response's body.
    let received: Int
    let status: Int?
    let failure: String?
  }

  let time: Double
  let rate: Double
  let map: TownMap
  let people: [Person]
  let messages: [Message]
  /// The addresses of the servers by name.
  let links: [String: String]
}

extension TownFacts.Message {
  init(_ message: ResidentReport.Message, from name: String) {
    self.init(
      id: message.id, time: message.time, from: name, to: message.receiver, kind: message.kind,
      sent: message.sent, received: message.received, status: message.status,
      failure: message.failure)
  }

  /// The beacons that a phone received from another one.
  init(_ contact: ReceptionLog.Contact) {
    self.init(
      id: "beacons-\(contact.sender)-\(contact.receiver)",
      time: Int(contact.last.unixSecond), from: contact.sender, to: contact.receiver,
      kind: "beacon", count: contact.count, sent: contact.bytes, received: 0, status: nil,
      failure: nil)
  }
}

/// A command of the town page.
package enum TownCommand: Hashable, Sendable {
  case move(String, Position)
  /// Puts a person a metre beside another one.
  case join(String, String)
  case walk(String, Bool)
  case rate(Double)
  case jump(seconds: Double)
  case tomorrow
  /// A person tests positive.
  case diagnose(String)
  /// Issues a PIN to a diagnosed person without the console.
  case issue(String)
  case check(String)
}

extension TownCommand: Decodable {
  private enum CodingKeys: CodingKey {
    case action, name, other, x, y, walks, rate, seconds
  }

  package init(from decoder: any Decoder) throws {
    let fields = try decoder.container(keyedBy: CodingKeys.self)
    func text(_ key: CodingKeys) throws -> String { try fields.decode(String.self, forKey: key) }
    func number(_ key: CodingKeys) throws -> Double { try fields.decode(Double.self, forKey: key) }
    switch try text(.action) {
    case "move":
      self = .move(try text(.name), Position(x: try number(.x), y: try number(.y)))
    case "join": self = .join(try text(.name), try text(.other))
    case "walk": self = .walk(try text(.name), try fields.decode(Bool.self, forKey: .walks))
    case "rate": self = .rate(try number(.rate))
    case "jump": self = .jump(seconds: try number(.seconds))
    case "tomorrow": self = .tomorrow
    case "diagnose": self = .diagnose(try text(.name))
    case "issue": self = .issue(try text(.name))
    case "check": self = .check(try text(.name))
    default:
      throw DecodingError.dataCorruptedError(
        forKey: .action, in: fields, debugDescription: "unknown action")
    }
  }
}

/// The answers of a resident's phone over its socket.
struct ResidentReport: Sendable {
  /// The fields of `status` that the page shows.
  struct Status: Decodable, Hashable, Sendable {
    struct Notice: Codable, Hashable, Sendable {
      let title: String
      let body: String
      let time: Int
    }

    let enabled: Bool
    let riskLevel: Int?
    let lastCheck: Int?
    let shownNotices: [Notice]
  }

  /// The fields of a message that the page shows.
  struct Message: Decodable, Hashable, Sendable {
    let id: String
    let time: Int
    let kind: String
    let receiver: String
    let sent: Int
    let received: Int
    let status: Int?
    let failure: String?
  }

  private struct Messages: Decodable {
    let messages: [Message]
  }

  /// `nil` if the phone does not answer.
  var status: Status?
  var messages: [Message] = []

  /// Asks the phone of `resident`.
  init(of resident: Resident) async {
    status = await Self.ask(.status, resident)
    messages = await Self.ask(.messages, resident, as: Messages.self)?.messages ?? []
  }

  init() {}

  private static func ask<Answer: Decodable>(
    _ operation: PhoneOperation, _ resident: Resident, as type: Answer.Type = Answer.self
  ) async -> Answer? {
    // A phone that does not answer has no facts until the next poll.
    let reply = try? await PhoneSocket.ask(
      PhoneRequest(operation), in: resident.folder, seconds: LiveTownLimit.answerSeconds)
    return reply?.json.flatMap { JSONDecoder().decodeIfValid(type, from: Data($0.utf8)) }
  }
}
