// SPDX-License-Identifier: Apache-2.0
import Foundation
import ServedSystem
import TestSupport
import Testing

@Suite("Slow clients of running servers", .needs(.process))
struct SlowClientTests {
  /// The routes that read a body.
  private static let paths = [
    "$VERIFICATION/generateCode", "$VERIFICATION/generateCodesBatch",
    "$VERIFICATION/getAccessToken",
    "$VERIFICATION/api/verify", "$VERIFICATION/api/certificate", "$VERIFICATION/api/user-report",
    "$VERIFICATION/api/issue", "$VERIFICATION/api/batch-issue", "$VERIFICATION/api/checkcodestatus",
    "$VERIFICATION/api/expirecode", "$KEYS/uploadDiagnosisKeys", "$KEYS/v1/publish",
    "$KEYS/v1/stats",
  ]

  /// `QuietLimit.bodyCheckSeconds`.
  private static let checkSeconds = 4
  /// The seconds of a body within the limit.
  private static let timelySeconds = 1
  /// The number of times that such a body is sent if the processes that send it took longer than the limit, as on a
  /// busy machine.
  private static let attemptsMax = 20
  /// The seconds of a body beyond the limit, also on a busy server. curl stops sending at the response.
  private static let slowSeconds = 50 * checkSeconds

  /// Sends a byte a second for `seconds` and then ends the body; writes the status to `out.<name>`.
  private static func call(_ path: String, _ name: String, seconds: Int) -> String {
    let isAdministration = ["issue", "checkcode", "expire"].contains { path.contains("/api/\($0)") }
    let key = isAdministration || path.contains("batch-issue") ? "ADMIN" : "DEVICE"
    return """
      (for i in $(seq \(seconds)); do printf ' ' 2> /dev/null || exit 0; sleep 1; done; printf '[]') \
      | curl -s -o /dev/null -w '%{http_code} %{time_total}' -X POST -T . "\(path)" \
      -H 'content-type: application/json' -H 'Expect:' \
      -H "api-token: $API_TOKEN" -H "X-API-Key: $\(key)" > out.\(name)
      """
  }

  /// The call `name`, repeated while it was refused after the limit.
  private static func patientCall(_ path: String, _ name: String) -> String {
    """
    for attempt in $(seq \(attemptsMax)); do
    \(call(path, name, seconds: timelySeconds))
    read -r status seconds < out.\(name)
    [ "$status" = 408 ] && [ "${seconds%%.*}" -ge \(checkSeconds) ] || break
    done &
    """
  }

  @Test(
    "A body at a byte a second is rejected with 408 after some seconds, even if bytes keep arriving"
  )
  func slowBodies() async throws {
    let folder = try TemporaryFolder()
    let servers = try await ServedFirebreak(folder: folder)
    defer { withExtendedLifetime(servers) {} }
    let addresses = try await servers.addresses()
    let limit = Self.checkSeconds
    let numbered = Array(Self.paths.enumerated())
    let slowCalls = numbered.map { number, path in
      Self.call(path, "slow.\(number)", seconds: Self.slowSeconds) + " &"
    }
    let timelyCalls = numbered.map { number, path in
      Self.patientCall(path, "timely.\(number)")
    }
    let keys = """
      API_TOKEN=$("$FIREBREAK" verification-server api-token --data "$DATA" | head -n 1)
      ADMIN=$("$FIREBREAK" verification-server api-key add --type admin --name clinic --data "$DATA")
      DEVICE=$("$FIREBREAK" verification-server api-key add --type device --name app --data "$DATA")
      """
    _ = try await Shell.run(
      (["cd '\(folder.url.path)'", keys] + slowCalls + timelyCalls + ["wait"])
        .joined(separator: "\n"),
      environment: [
        "FIREBREAK": try Run.product().path, "DATA": servers.data,
        "VERIFICATION": addresses["verification"] ?? "", "KEYS": addresses["keys"] ?? "",
      ])
    for (number, path) in numbered {
      let slow = try String(contentsOf: folder.path("out.slow.\(number)"), encoding: .utf8)
      #expect(slow.hasPrefix("408 "), "\(path): \(slow)")
      let seconds = try #require(slow.split(separator: " ").last.flatMap { Double($0) })
      // With a shorter limit the status is the same.
      #expect(seconds >= Double(limit), "\(path)")
      let timely = try String(contentsOf: folder.path("out.timely.\(number)"), encoding: .utf8)
      #expect(timely.hasPrefix("400 "), "\(path): \(timely)")
    }
    #expect(try await servers.get(addresses["verification"], "/openapi.json").status == 200)
    #expect(try await servers.get(addresses["keys"], "/openapi.json").status == 200)
    #expect(try await servers.stop() == 0)
  }
}
