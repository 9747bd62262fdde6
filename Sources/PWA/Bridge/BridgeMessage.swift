import Foundation

/// A message of a page to the phone: `{"type":61,"data":null,"requestId":"request-1"}`.
package struct BridgeMessage: Hashable, Sendable {
  /// The number of the message.
  package let type: Int
  /// The content; `nil` if there is none, or it is not JSON.
  package let content: JSONValue?
  /// True if there is content that is not JSON.
  package let isMalformed: Bool

  package init(_ type: Int, _ content: JSONValue? = nil) {
    self.type = type
    self.content = content
    isMalformed = false
  }

  /// Reads the body of a request; `nil` if it is not a message.
  ///
  /// Pages differ: the type may be a text with a number, and the content an object instead of its JSON.
  package init?(body: Data) {
    guard let value = JSONValue(String(decoding: body, as: UTF8.self)),
      let type = value["type"]?.asInteger
    else { return nil }
    self.type = type
    switch value["data"] {
    case nil, .null, .string(""):
      (content, isMalformed) = (nil, false)
    case .string(let text):
      content = JSONValue(text)
      isMalformed = content == nil
    case .some(let other):
      (content, isMalformed) = (other, false)
    }
  }

  /// A field of the content.
  subscript(_ name: String) -> JSONValue? { content?[name] }
}

/// A message that the phone sends by itself: the number and the JSON for `onBridgeData`.
package struct BridgePush: Hashable, Sendable {
  /// The number of the message.
  package let type: Int
  /// The content.
  package let content: JSONValue

  package init(_ type: Int, _ content: JSONValue) {
    self.type = type
    self.content = content
  }

  /// The page has been opened, or is visible again.
  package static let foreground = BridgePush(MessageID.applicationLifecycle, ["appState": 1])
  /// The back button of the phone.
  package static let back = BridgePush(MessageID.backPressed, [:])

  /// `{"type":11,"data":"{\"appState\":1}"}`, in one line.
  package var line: String {
    let push: JSONValue = ["type": .integer(type), "data": .string(content.text)]
    return push.text
  }
}

/// The reason why a message has no answer, as `{"error":{"code":…,"message":…}}`.
enum BridgeFailure: Error, Hashable, Sendable {
  case unknownMessage(Int)
  /// The content is not valid; the sentence names the field.
  case badRequest(String)
  case timeout
  case notDeveloper
  /// The phone could not read or store its data; the sentence for its owner.
  case phone(String)

  var answer: JSONValue {
    ["error": ["code": .string(code), "message": .string(message)]]
  }

  private var code: String {
    switch self {
    case .unknownMessage: "unknownMessage"
    case .badRequest: "badRequest"
    case .timeout: "timeout"
    case .notDeveloper: "notDeveloper"
    case .phone: "failed"
    }
  }

  private var message: String {
    switch self {
    case .unknownMessage(let type): "There is no message \(type)."
    case .badRequest(let need): need
    case .timeout: "The phone did not answer in time: try again."
    case .notDeveloper: "This is for developers: start the phone with --developer."
    case .phone(let sentence): sentence
    }
  }
}
