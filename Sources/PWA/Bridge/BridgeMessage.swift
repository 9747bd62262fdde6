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

  /// Messages that wait for servers several times.
  static let long: Set<Int> = [upload, guidedUpload, unfinishedUpload]
}
