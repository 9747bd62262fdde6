import Foundation
import PhoneProcess

/// A person of a town, with a phone that is a process of its own.
package struct Resident: Hashable, Sendable {
  /// The name in lower case, which is also that of the folder.
  package let name: String
  /// The folder of the phone.
  package let folder: URL
  /// The address of the phone's web app, with its secret.
  package let web: String

  package init(name: String, folder: URL, web: String) {
    self.name = name
    self.folder = folder
    self.web = web
  }

  /// The names of the first residents.
  package static let names = [
    "ada", "ben", "cleo", "dan", "eva", "filip", "gosia", "hana", "igor", "jan", "kasia", "leo",
  ]
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
    let bluetooth: Bool
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
    let reply = try? await PhoneSocket.ask(
      PhoneRequest(operation), in: resident.folder, seconds: LiveTownLimit.answerSeconds)
    return reply?.json.flatMap { try? JSONDecoder().decode(type, from: Data($0.utf8)) }
  }
}
