// SPDX-License-Identifier: Apache-2.0
import Foundation
import TextEncodings

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
    guard let value = JSONValue(json: body),
      let type = value["type"]?.asInteger
    else { return nil }
    self.type = type
    switch value["data"] {
    case nil, .null, .string(""):
      (content, isMalformed) = (nil, false)
    case .string(let text):
      content = JSONValue(text: text)
      isMalformed = content == nil
    case .some(let other):
      (content, isMalformed) = (other, false)
    }
  }

  /// A field of the content.
  subscript(_ name: String) -> JSONValue? { content?[name] }
}

/// The reason why a message has no answer, as `{"error":{"code":…,"message":…}}`.
struct BridgeFailure: Error, Hashable, Sendable {
  let code: String
  /// A sentence for the owner.
  let message: String

  static let timeout = BridgeFailure(
    code: "timeout", message: "The phone did not answer in time: try again.")
  static let notDeveloper = BridgeFailure(
    code: "notDeveloper", message: "This is for developers: start the phone with --developer.")

  static func unknownMessage(_ type: Int) -> BridgeFailure {
    BridgeFailure(code: "unknownMessage", message: "There is no message \(type).")
  }

  /// The content is not valid; the sentence names the field.
  static func badRequest(_ need: String) -> BridgeFailure {
    BridgeFailure(code: "badRequest", message: need)
  }

  /// The phone could not read or store its data.
  static func phone(_ sentence: String) -> BridgeFailure {
    BridgeFailure(code: "failed", message: sentence)
  }

  var answer: JSONValue {
    ["error": ["code": .string(code), "message": .string(message)]]
  }
}

// The values of fields in the forms that pages write.
extension JSONValue {
  /// A whole number, also as text.
  var asInteger: Int? { integer ?? string.flatMap { Int($0) } }

  /// A truth value, also as text or as 0 and 1.
  var asBool: Bool? {
    switch self {
    case .bool(let value): value
    case "true", 1: true
    case "false", 0: false
    default: nil
    }
  }

  /// A list of row identifiers, which are texts or numbers.
  var asIdentifiers: [String]? {
    guard case .array(let values) = self else { return nil }
    return values.compactMap { $0.string ?? $0.integer.map(String.init) }
  }

  /// An object with these fields in addition, or in place of its own; another value is unchanged.
  func with(_ fields: [String: JSONValue]) -> JSONValue {
    guard case .object(let own) = self else { return self }
    return .object(own.merging(fields) { $1 })
  }
}

/// The numbers of the messages. Those below 1000 are ProteGO Safe's; Documentation/Bridge.md lists all of them.
enum MessageID {
  static let dailyTopicUnsubscribe = 1
  static let notificationPermission = 2
  static let applicationLifecycle = 11
  static let notificationsPermission = 35
  static let clearData = 37
  static let upload = 43
  static let serviceStatus = 51
  static let setServices = 52
  static let riskLevel = 61
  static let appVersion = 62
  static let language = 63
  static let turnOff = 64
  static let fontScale = 65
  static let clearExposureRisk = 66
  static let backPressed = 67
  static let appReview = 68
  static let route = 69
  static let allDistricts = 70
  static let fetchDistricts = 71
  static let districtAction = 72
  static let subscribedDistricts = 73
  static let labTestUpload = 80
  static let labTestSubscription = 81
  static let labTestPIN = 82
  static let activities = 90
  static let removeActivities = 91
  static let statisticsNotification = 100
  static let setStatisticsNotification = 101
  static let dashboard = 102
  static let checkTotals = 103
  static let details = 104
  static let sendSMS = 105

  static let state = 1_000
  static let exposures = 1_001
  static let traffic = 1_002
  static let exportMyData = 1_003
  static let onboarding = 1_004
  static let checkNow = 1_005
  static let guidedUpload = 1_006
  static let unfinishedUpload = 1_007
  static let remove = 1_008
  static let travel = 1_009
  static let preferences = 1_010
  static let uploadPreview = 1_011
  static let developer = 1_012
  static let followingDays = 1_013

  /// Messages whose answers wait for servers: uploads and checks. The script of the bridge has the same list.
  static let long: Set<Int> = [upload, checkNow, guidedUpload, unfinishedUpload, developer]
}
