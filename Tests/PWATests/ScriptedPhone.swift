// SPDX-License-Identifier: Apache-2.0
import ExposureApp
import Foundation
import PWA
import Secrets
import Synchronization
import TextEncodings

@testable import PhoneProcess

/// A phone that a test scripts, and that records the requests of pages.
final class ScriptedPhone: BridgePhone {
  struct Script {
    var state = PhoneState.example
    var history = PhoneHistory()
    /// True for a phone that never answers a check, an upload or a travel.
    var hangs = false
    /// Delays the next result of `status`.
    var stateDelay: (@Sendable () async -> Void)?
    /// A description of each request, in order.
    var requests: [String] = []
  }

  private let script = Mutex(Script())
  private let change: AsyncStream<Void>.Continuation
  private let changes: AsyncStream<Void>

  init(_ edit: (inout Script) -> Void = { _ in }) {
    (changes, change) = AsyncStream.makeStream(of: Void.self)
    script.withLock { edit(&$0) }
  }

  /// Changes the script and tells the bridge.
  func edit(_ edit: (inout Script) -> Void) {
    script.withLock { edit(&$0) }
    change.yield()
  }

  func makeChanges() -> AsyncStream<Void> { changes }

  var requests: [String] { script.withLock { $0.requests } }
  var history: PhoneHistory { script.withLock { $0.history } }

  private func note(_ words: String) { script.withLock { $0.requests.append(words) } }

  private func answerOrHang() async {
    guard script.withLock({ $0.hangs }) else { return }
    try? await Task.sleep(for: .seconds(100_000))
  }

  /// Runs `delay` after the next request for the state has read it, before it returns.
  func delayNextState(_ delay: @escaping @Sendable () async -> Void) {
    script.withLock { $0.stateDelay = delay }
  }

  private func state() async -> PhoneState {
    let (state, delay) = script.withLock { script in
      defer { script.stateDelay = nil }
      return (script.state, script.stateDelay)
    }
    await delay?()
    return state
  }

  func perform(_ request: PhoneRequest) async -> PhoneReply {
    switch request.operation {
    case .status: return await state().reply
    case .history: return history.reply
    case .check:
      await answerOrHang()
      return PhoneReply(.done, "", CheckReport(ok: true, riskLevel: 2, failure: nil))
    case .upload(let sharesAbroad, let diagnosis):
      await answerOrHang()
      let pin = request.pin.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      note("upload \(pin) \(sharesAbroad) \(diagnosis)")
      return PhoneReply(.done, "", UploadReport(ok: true, result: 1, reason: nil))
    case .unfinishedUpload(.forget):
      return PhoneReply(.done, "", UploadReport(ok: false, result: 3, reason: nil))
    case .unfinishedUpload(.continue): return PhoneReply(.badInput, "There is none.")
    case .travel(to: "Poland"): return PhoneReply(.badInput, "A region is a code.")
    case .travel:
      await answerOrHang()
      return PhoneReply(.done, "", TravelReport(region: "PL", incomplete: false))
    case .shownExposures:
      return PhoneReply(.done, "", PhoneExposures(exposures: [], version: 1))
    case .traffic: return PhoneReply(.done, "", PhoneMessages(messages: [], beacons: []))
    case .exportMyData: return PhoneReply(.done, "", ["status": [String: String]()])
    case .uploadPreview(let diagnosis):
      let pin = request.pin.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
      note("preview \(pin) \(diagnosis)")
      return PhoneReply(
        .done, "",
        PhoneUploadPreview(
          keys: [], withheldDays: ["2020-10-13", "2020-10-14"], receiver: "localhost:1",
          region: "PL"))
    default:
      change(request.operation)
      return PhoneReply(.done, "Done.")
    }
  }

  private func change(_ operation: PhoneOperation) {
    script.withLock { script in
      switch operation {
      case .enable: script.requests.append("notifications true")
      case .disable: script.requests.append("notifications false")
      case .onboard(let step): script.requests.append("onboard \(step)")
      case .followingDays(let decision): script.requests.append("following days \(decision)")
      case .unfinishedUpload: script.state.lastUpload = nil
      case .remove(let what):
        script.requests.append("remove \(what)")
        if what == .exposures { script.state.riskLevel = 0 }
      case .removeRows(let rows):
        script.history.notices.removeAll { rows.notices.contains($0.id) }
        script.history.checks.removeAll { rows.checks.contains($0.id) }
      case .choose(let choice):
        if let language = choice.language { script.state.language = language }
        if let hides = choice.hidesDetails { script.state.hidesDetails = hides }
        if let notices = choice.notifications { script.state.notifications = notices }
        if let statistics = choice.statistics { script.state.statisticsNews = statistics }
      default: break
      }
    }
  }
}

extension PhoneState {
  /// A phone that has found nothing.
  static let example = PhoneState(
    onboarding: .finished, enabled: true, authorized: true, bluetooth: true, service: .on,
    radio: .on,
    supported: true, riskLevel: 0, exposures: 0, lastCheck: nil, lastFailure: nil,
    nextCheck: nil, checking: false, paused: false, configurationRefused: nil, storage: "ready",
    damaged: [], droppedBeacons: 0, advice: nil, positiveTest: nil, pendingUpload: false,
    upload: nil, lastUpload: nil,
    language: .polish, hidesDetails: false, notifications: true, statisticsNews: false,
    developer: false, region: "PL", lastCheckKeys: 0, notices: 0, shownNotices: [],
    version: "1.2.3", now: Date(timeIntervalSince1970: 1_600_000_000), languageChosen: false,
    clockWrong: false, permissionUnreadable: false)
}

extension PhoneNotice {
  init(id: String, time: Int, title: String, body: String) {
    self.init(
      id: id, kind: "risk", identifier: "risk", title: title, body: body,
      time: Date(timeIntervalSince1970: TimeInterval(time)))
  }
}

extension PhoneHistory.Check {
  init(id: String, time: Int, keys: Int, matchedKeys: Int = 0, riskLevel: Int? = nil) {
    self.init(
      id: id, time: Date(timeIntervalSince1970: TimeInterval(time)), keys: keys,
      matchedKeys: matchedKeys, riskLevel: riskLevel)
  }
}

/// Statistics of the examples.
struct ScriptedStatistics: StatisticsSource {
  let file: @Sendable (String) -> JSONValue?

  func districts(refreshing: Bool) async -> JSONValue {
    guard case .object(var fields) = file("70.bridgeDataResponse.json") else { return .null }
    fields["result"] = 1
    return .object(fields)
  }

  func subscribedDistricts() async -> JSONValue {
    file("73-get-subscribed-districts.bridgeDataResponse.json") ?? .null
  }

  func subscribe(_ isSubscribed: Bool, to district: Int) async -> JSONValue? {
    district == 218 ? await subscribedDistricts() : nil
  }

  func dashboard() async -> JSONValue? { file("102-fetch-covid-stats.bridgeDataResponse.json") }

  func details() async -> JSONValue? { file("104-fetch-details-stats.onBridgeData.json") }
}
