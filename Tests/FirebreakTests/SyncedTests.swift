// SPDX-License-Identifier: Apache-2.0
import Foundation
import QuietHTTP
import ServedSystem
import TestSupport
import Testing

@Suite(
  "Durability of responses and exports", .needs(.process),
  .enabled(if: SyncLog.isAvailable, Comment(rawValue: SyncLog.absence)))
struct SyncedTests {
  typealias Event = SyncLog.Event

  /// A failed sign-in to the console and requests of the ProteGO Safe contract, with the number of events before each.
  private static let calls = #"""
    API_TOKEN=$("$FIREBREAK" verification-server api-token --data "$DATA" | head -n 1)
    START=$(( $(date +%s) / 86400 * 144 - 144 ))
    KEY=$(openssl rand -base64 16)
    ask() { wc -l < "$FIREBREAK_TEST_EVENTS"; curl -sS -H 'content-type: application/json' "$@" > answer; }
    field() { sed -n 's/.*"'"$1"'":"\([^"]*\)".*/\1/p' answer | head -n 1; }
    wc -l < "$FIREBREAK_TEST_EVENTS"
    curl -sS -d 'name=Anna&password=wrong&code=000000' "$CONSOLE/sign-in" > page
    ask "$VERIFICATION/generateCode" -H "api-token: $API_TOKEN" -d '{"data": null}'
    CODE=$(field result)
    ask "$VERIFICATION/getAccessToken" -d '{"data": {"code": "'"$CODE"'"}}'
    TOKEN=$(field accessToken)
    ask "$KEYS/uploadDiagnosisKeys" -d '{"data": {"temporaryExposureKeys": [{"key": "'"$KEY"'",
      "rollingPeriod": 144, "rollingStartNumber": '"$START"', "transmissionRisk": 8}],
      "regions": ["PL"], "platform": "android", "appPackageName": "pl.gov.mc.protegosafe",
      "verificationPayload": "'"$TOKEN"'"}}'
    wc -l < "$FIREBREAK_TEST_EVENTS"
    cat answer
    """#

  /// Expects that `file` was written and synced before the response was sent.
  private func expectSynced(_ file: String, before events: ArraySlice<Event>, _ call: String) {
    func last(_ kind: Event.Kind, before end: Int) -> Int? {
      events.prefix(upTo: end).lastIndex { $0.kind == kind && $0.path.hasSuffix("/" + file) }
    }
    guard let write = last(.write, before: events.endIndex),
      let answer = events.firstIndex(where: { $0.kind == .send })
    else {
      Issue.record("\(call): nothing was written to \(file), or no response was sent")
      return
    }
    #expect(write < answer, "\(call): \(file) was written after the response")
    #expect((last(.sync, before: answer) ?? -1) > write, "\(call): \(file) was not synced")
  }

  /// Waits for the jobs of the start, which write to the databases too.
  private func untilJobsEnded(_ servers: ServedFirebreak, _ address: String) async throws {
    let job = #/\nfirebreak_job_last_success_timestamp_seconds\{[^}]*\} (\d+)/#
    try await Patience.until {
      let metrics = try await servers.get(address, MetricsEndpoint.path).body
      let times = String(decoding: metrics, as: UTF8.self).matches(of: job).map { $0.output.1 }
      return !times.isEmpty && times.allSatisfy { $0 != "0" }
    }
  }

  @Test(
    "The database's log is synced before the response to a sign-in, a code, a token or an upload")
  func answers() async throws {
    let folder = try TemporaryFolder()
    let log = try await SyncLog(in: folder)
    let servers = try await ServedFirebreak(
      folder: folder, ["--metrics-port", "0"], environment: log.environment)
    defer { withExtendedLifetime(servers) {} }
    let addresses = try await servers.addresses()
    try await untilJobsEnded(servers, try #require(addresses["metrics"]))
    let run = try await Shell.run(
      "cd '\(folder.url.path)'\n" + Self.calls,
      environment: [
        "FIREBREAK": try Run.product().path, "DATA": servers.data,
        "VERIFICATION": addresses["verification"] ?? "", "KEYS": addresses["keys"] ?? "",
        "CONSOLE": addresses["console"] ?? "",
        "FIREBREAK_TEST_EVENTS": log.environment["FIREBREAK_TEST_EVENTS"] ?? "",
      ])
    let lines = run.output.split(separator: "\n").map(String.init)
    let marks = lines.compactMap { Int($0) }
    try #require(marks.count == 5, "\(run.output) \(run.errors)")
    #expect(lines.last?.contains("\"result\"") == true, "\(run.output)")
    let events = try log.events()
    for (number, (call, file)) in [
      ("sign-in", "console.sqlite-wal"), ("generateCode", "verification.sqlite-wal"),
      ("getAccessToken", "verification.sqlite-wal"),
      ("uploadDiagnosisKeys", "keys.sqlite-wal"),
    ].enumerated() {
      expectSynced(file, before: events[marks[number]..<marks[number + 1]], call)
    }
    #expect(try await servers.stop() == 0)
  }

  @Test("A key file and its index are synced before they are renamed, and the folder after")
  func export() async throws {
    let folder = try TemporaryFolder()
    try ServedAuthority.prepare(folder)
    let log = try await SyncLog(in: folder)
    let run = try await Shell.run(
      """
      set -e
      "$FIREBREAK" key-server signing-key add --data "$DATA" > /dev/null
      "$FIREBREAK" verification-server signing-key add --data "$DATA" > /dev/null
      "$FIREBREAK" bench export-fill "$DATA/keys/keys.sqlite" --keys 3000 \\
        --start $(( ($(date +%s) / 14400 - 2) * 14400 )) > /dev/null
      LD_PRELOAD=$WATCH "$FIREBREAK" key-server export --now --data "$DATA"
      """,
      environment: [
        "FIREBREAK": try Run.product().path, "DATA": folder.path("data").path,
        "WATCH": log.environment["LD_PRELOAD"] ?? "",
        "FIREBREAK_TEST_EVENTS": log.environment["FIREBREAK_TEST_EVENTS"] ?? "",
      ])
    #expect(run.status == 0, "\(run.errors)")
    let events = try log.events()
    let renames = events.indices.filter {
      events[$0].kind == .rename && events[$0].to.contains("/exports/")
    }
    #expect(renames.contains { events[$0].to.hasSuffix(".zip") })
    #expect(renames.contains { events[$0].to.hasSuffix("/index.txt") })
    for rename in renames {
      let (from, to) = (events[rename].path, events[rename].to)
      // A key file gets a hidden name first, until it is recorded.
      let paths = renames.filter { events[$0].to == from }.map { events[$0].path } + [from]
      let its = events.indices.filter { paths.contains(events[$0].path) }
      let sync = try #require(its.last { events[$0].kind == .sync }, "\(to) was not synced")
      #expect(sync < rename, "\(to)")
      if let write = its.last(where: { events[$0].kind == .write }) {
        #expect(write < sync, "\(to)")
      } else {
        // The first index of an export without files.
        let content = try Data(contentsOf: URL(filePath: to))
        #expect(to.hasSuffix("/index.txt") && content.isEmpty)
      }
      let parent = (to as NSString).deletingLastPathComponent
      let next = renames.first { $0 > rename } ?? events.endIndex
      let entered = events[rename..<next].contains { $0.kind == .sync && $0.path == parent }
      #expect(entered, "the folder of \(to) was not synced")
    }
  }
}
