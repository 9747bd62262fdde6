// SPDX-License-Identifier: Apache-2.0
import Foundation
import KeyServerAPI
import RiskRules
import TestSupport
import Testing

@testable import HealthAuthorityConsole

/// The pages about statistics, the remote configuration, phones and keys, over HTTP.
@Suite struct AdministrationPageTests {
  let folder: TemporaryFolder

  init() throws {
    folder = try TemporaryFolder()
  }

  @Test("The funnel hides counts from 1 to 9, and every count from which one could be derived")
  func funnel() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      console.authority.state.days = [
        FunnelDay(
          day: 1_799_884_800, issued: 40, redeemed: 31, redeemSeconds: 61, uploads: 9,
          uploadTime: .under(minutes: 2), fileTime: .under(minutes: 30), published: 600),
        FunnelDay(
          day: 1_799_971_200, issued: 0, redeemed: 10, redeemSeconds: 61, uploads: nil,
          published: 3),
        FunnelDay(
          day: 1_800_057_600, issued: 90, redeemed: 70, uploads: 30, uploadTime: .under(minutes: 5),
          fileTime: .under(minutes: 180), published: 900),
        FunnelDay(
          day: 1_800_144_000, issued: 90, redeemed: 70, uploads: 30, uploadTime: .over(minutes: 20),
          published: 900),
      ]
      let browser = try await console.signedIn(.epidemiologist)
      let text = try await browser.get("/funnel").text
      let rows = text.matches(of: /<tr><th scope="row" class="time">(.*?)<\/tr>/).map {
        $0.1.replacing(/<\/th><td>|<\/td><td>/, with: " | ").replacing("</td>", with: "")
      }
      #expect(
        rows == [
          "2027-01-14 | 40 | fewer than 10 | – | fewer than 10 | – | – | 600",
          "2027-01-15 | 0 | 10 | 2 | not counted | – | – | fewer than 10",
          "2027-01-16 | 90 | 70 | – | 30 | &lt; 5 | &lt; 180 | 900",
          "2027-01-17 | 90 | 70 | – | 30 | &gt; 20 | – | 900",
        ])
      #expect(text.contains("<svg class=\"chart\" role=\"img\""))
      #expect(!text.contains(">31<") && !text.contains(">9<"))
      let csv = CSV.fields(try await browser.get("/funnel/csv").text)
      #expect(csv.count == 5 && csv[0].first == "Date")
      #expect(
        csv[1] == ["2027-01-14", "40", "fewer than 10", "", "fewer than 10", "–", "–", "600"])
    }
  }

  @Test("The median time to the upload is the limit of its interval, or nil without counts")
  func medianTime() {
    func time(_ counts: [Int]) -> MedianTime? {
      MedianTime(of: counts, limits: StatisticsDay.tokenToUploadMinutes)
    }
    #expect(time([0, 0, 0, 0, 0, 0]) == nil)
    #expect(time([10, 0, 0, 0, 0, 0]) == .under(minutes: 1))
    #expect(time([10, 0, 10, 0, 0, 0]) == .under(minutes: 1))
    #expect(time([10, 0, 20, 0, 0, 0]) == .under(minutes: 5))
    #expect(time([10, 0, 0, 0, 0, 30]) == .over(minutes: 20))
    // A server with other intervals.
    #expect(time([]) == nil)
  }

  @Test(
    "Numbers are changed in labelled fields with their limits, and other parts stay as they are")
  func fields() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      var inForce = RemoteConfiguration(version: 3)
      inForce.windowRiskConfiguration = .standard
      console.authority.state.configuration = inForce
      let anna = try await console.signedIn(.epidemiologist, name: "Anna")
      let page = try await anna.get("/configuration")
      #expect(page.element("document") == nil && page.text.contains("Low risk up to"))
      var fields = [
        "as": "fields", "reason": "fewer false alarms", "version": page.field("version"),
      ]
      for match in page.text.matches(of: /id="([a-zA-Z.0-9]+)" name="\1" type="number"/) {
        let name = String(match.1)
        let value = page.text.firstMatch(
          of: try Regex("id=\"\(name)\"[^>]*value=\"([0-9]+)\""))
        fields[name] = value?.output[1].substring.map(String.init)
      }
      #expect(fields.count == 3 + 41)
      let same = try await anna.post("/configuration/preview", fields)
      #expect(same.status == 422 && same.element("fault")?.hasPrefix("The document is the") == true)
      fields["riskLevelConfiguration.maxLowRiskScore"] = "1200"
      fields["exposureConfiguration.durationScores.1"] = "9"
      let refused = try await anna.post("/configuration/preview", fields)
      #expect(
        refused.element("fault")
          == "Values by duration, ≤ 5 min: enter a whole number from 0 to 8.")
      #expect(refused.text.contains("value=\"1200\"") && refused.text.contains("value=\"9\""))
      fields["exposureConfiguration.durationScores.1"] = "4"
      let preview = try await anna.post("/configuration/preview", fields)
      #expect(preview.status == 200, "\(preview.text)")
      let changes = try #require(preview.element("changes"))
      #expect(changes.contains("+     &quot;maxLowRiskScore&quot; : 1200,"))
      #expect(changes.split(separator: "\n").count == 6)
      // Another tab has the numbers of an earlier version, which would undo what was approved meanwhile.
      inForce.version = 4
      inForce.riskLevelConfiguration.maxNoRiskScore = 1
      console.authority.state.configuration = inForce
      for _ in 1...2 {
        let stale = try await anna.post("/configuration/preview", fields)
        #expect(stale.status == 422)
        #expect(stale.element("fault")?.contains("not of version 4") == true)
        fields["version"] = stale.field("version")
      }
    }
  }

  @Test("A change is not proposed if another one was approved after its preview")
  func latePreview() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let anna = try await console.signedIn(.epidemiologist, name: "Anna")
      let document = String(
        decoding: try JSONEncoder().encode(RemoteConfiguration(version: 3)), as: UTF8.self
      ).replacing("1499", with: "1400")
      let preview = try await anna.post(
        "/configuration/preview", ["document": document, "reason": "x"])
      let previewed = [
        "document": preview.field("document").replacing("&quot;", with: "\""), "reason": "x",
      ]
      console.authority.state.configuration.version = 4
      let late = try await anna.post("/configuration/propose", previewed)
      #expect(late.status == 422 && late.element("fault")?.contains("not of version 4") == true)
      console.authority.state.configuration.version = 3
      let inTime = try await anna.post("/configuration/propose", previewed)
      #expect(inTime.element("notice") == "The proposal waits for another person.")
    }
  }

  @Test("A preview counts the notices that differ, on simulated phones and on those of a recording")
  func notices() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      console.authority.state.recordedPhones = 92
      let anna = try await console.signedIn(.epidemiologist, name: "Anna")
      var changed = RemoteConfiguration(version: 3)
      changed.riskLevelConfiguration.maxLowRiskScore = 1_200
      let document = String(decoding: try JSONEncoder().encode(changed), as: UTF8.self)
      let preview = try await anna.post(
        "/configuration/preview", ["document": document, "reason": "fewer false alarms"])
      let notices = "Phones that would show another notice: 4 of"
      for version in 1...2 {
        #expect(
          preview.element("notices-\(version)")
            == "\(notices) 1600. Phones with a notice: 1599 before, 1599 after.")
        let recorded = "notices-recorded-\(version)"
        #expect(preview.element(recorded)?.hasPrefix("\(notices) 92.") == true)
        #expect(preview.element("changed-recorded-\(version)") != nil)
      }
      #expect(preview.element("no-recording") == nil)
      #expect(preview.text.contains("no server can count them"))
    }
  }

  @Test(
    "A change of the configuration is previewed, and is in force after a second person approved")
  func configuration() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let (anna, berta) = (
        try await console.signedIn(.epidemiologist, name: "Anna"),
        try await console.signedIn(.epidemiologist, name: "Berta")
      )
      var changed = RemoteConfiguration(version: 3)
      changed.riskLevelConfiguration.maxLowRiskScore = 1_200
      let document = String(decoding: try JSONEncoder().encode(changed), as: UTF8.self)
      let fields = ["document": document, "reason": "fewer false alarms"]
      let preview = try await anna.post("/configuration/preview", fields)
      #expect(preview.status == 200)
      #expect(preview.text.contains("<td>1499</td>") && preview.text.contains("<td>1200</td>"))
      let changes = try #require(preview.element("changes"))
      #expect(changes.contains("+     &quot;maxLowRiskScore&quot; : 1200,"))
      #expect(preview.element("no-recording") != nil)
      #expect(preview.element("notices-recorded-1") == nil)
      let proposed = try await anna.post("/configuration/propose", fields)
      #expect(proposed.element("notice") == "The proposal waits for another person.")
      #expect(!proposed.text.contains("id=\"approve-1\""))
      let own = try await anna.post("/configuration/1/approve", [:])
      #expect(own.status == 422 && own.element("fault")?.contains("another person") == true)
      #expect(console.authority.state.configuration.version == 3)
      let effect = try await berta.get("/configuration/1")
      #expect(effect.text.contains("<td>1499</td>") && effect.text.contains("<td>1200</td>"))
      #expect(effect.element("changes") == changes && !effect.text.contains("id=\"propose\""))
      let approved = try await berta.post("/configuration/1/approve", [:])
      #expect(approved.element("notice") == "The configuration is in force.")
      #expect(approved.text.contains("approved by Berta"))
      #expect(console.authority.state.configuration.version == 4)
      let inForce = console.authority.state.configuration.riskLevelConfiguration
      #expect(inForce.maxLowRiskScore == 1_200)
      #expect(try await berta.post("/configuration/1/approve", [:]).status == 422)
    }
  }

  @Test("A document that is not valid, changes nothing or has no reason is refused with a message")
  func badConfiguration() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.epidemiologist)
      let same = String(
        decoding: try JSONEncoder().encode(RemoteConfiguration(version: 3)), as: UTF8.self)
      var bad = RemoteConfiguration(version: 3)
      bad.riskLevelConfiguration.maxLowRiskScore = 4_097
      let invalid = String(decoding: try JSONEncoder().encode(bad), as: UTF8.self)
      let cases = [
        ("not JSON", "x", "The document is not valid: "),
        (
          same.replacing("maxLowRiskScore", with: "maxLowRiskScor"), "x",
          "The document is not valid: riskLevelConfiguration.maxLowRiskScor is not a field"
        ),
        (
          same.replacing(":1499", with: #":"1499""#), "x",
          "The document is not valid: riskLevelConfiguration.maxLowRiskScore is not a field, or"
        ),
        (invalid, "x", "The document is not valid: maxLowRiskScore"),
        (same, "x", "The document is the one in force"),
        (
          same.replacing(#"version":3"#, with: #"version":9"#), "x",
          "The document is not of version 3"
        ),
        (same.replacing("1499", with: "1400"), " ", "Give a reason"),
        (same.replacing("1499", with: "1400"), "less \u{202E}risk", "Give a reason"),
        (
          same.replacing("1499", with: "1400"), String(repeating: "a", count: 501),
          "Give a reason"
        ),
      ]
      for (document, reason, fault) in cases {
        let page = try await browser.post(
          "/configuration/preview", ["document": document, "reason": reason])
        #expect(page.status == 422 && page.element("fault")?.hasPrefix(fault) == true, "\(fault)")
      }
    }
  }

  @Test("A failed replacement opens the proposal again")
  func failedReplacement() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let (anna, berta) = (
        try await console.signedIn(.epidemiologist, name: "Anna"),
        try await console.signedIn(.administrator, name: "Berta")
      )
      let document = String(
        decoding: try JSONEncoder().encode(RemoteConfiguration(version: 3)), as: UTF8.self)
      _ = try await anna.post(
        "/configuration/propose",
        ["document": document.replacing("1499", with: "1400"), "reason": "x"])
      console.authority.state.replaceFailure = .unavailable
      #expect(try await berta.post("/configuration/1/approve", [:]).status == 503)
      console.authority.state.replaceFailure = nil
      #expect(try await berta.post("/configuration/1/approve", [:]).status == 200)
      #expect(console.authority.state.configuration.version == 4)
    }
  }

  @Test("Without the data of one server the page has the keys of the other, and a notice")
  func keysOfOneServer() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      _ = try await console.change(
        "/keys/api", ["name": "lab", "kind": "admin"], approvedBy: browser)
      console.authority.state.registryFailure = .notOffered("The key server is elsewhere.")
      let page = try await browser.get("/keys")
      #expect(page.status == 200 && page.text.contains("lab <code>k0</code>"))
      #expect(page.element("notice") == "The key server is elsewhere.")
      console.authority.state.registryFailure = .unavailable
      #expect(try await browser.get("/keys").status == 503)
    }
  }

  @Test("Entries of the settings are listed without buttons, and withdrawn keys with their ids")
  func register() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let browser = try await console.signedIn(.administrator)
      console.authority.state.authorities = [
        AuthorityFacts(issuer: "own", audience: "keys", keyIDs: ["t1"], isInSettings: true),
        AuthorityFacts(
          issuer: "clinic", audience: "keys", keyIDs: ["v2"], withdrawnKeyIDs: ["v1"]),
        AuthorityFacts(issuer: "shadow", audience: "keys", keyIDs: ["v9"], isIgnored: true),
      ]
      console.authority.state.apps = [
        AppFacts(id: "org.own", regions: ["PL"], authorities: ["own"], isInSettings: true),
        AppFacts(id: "org.added", regions: ["PL"], authorities: ["clinic"]),
      ]
      let page = try await browser.get("/keys").text
      #expect(page.contains("v2 (withdrawn: v1)"))
      #expect(page.split(separator: "in the settings").count == 3)
      #expect(page.split(separator: "ignored: it has the issuer of our own").count == 2)
      for (name, value, isChangeable) in [
        ("issuer", "own", false), ("issuer", "clinic", true), ("app", "org.own", false),
        ("app", "org.added", true),
      ] {
        #expect(page.contains("<code>\(value)</code>"))
        #expect(page.contains(#"name="\#(name)" value="\#(value)""#) == isChangeable, "\(value)")
      }
      #expect(
        try await browser.post("/keys/authorities/remove", ["issuer": "own"]).status != 200)
      #expect(try await browser.post("/keys/apps/remove", ["app": "org.own"]).status != 200)
    }
  }

  @Test("Exports are shown with size, keys, padding, signature and the time of the next file")
  func exports() async throws {
    try await RunningConsole.run(in: folder.url) { console async throws in
      let hash = try #require(KeyFileHash(hex: String(repeating: "0b", count: 32)))
      console.authority.state.exports = [
        ExportFacts(
          root: "", region: "PL", periodSeconds: 14_400, keysMin: 500,
          nextFile: RunningConsole.start.addingTimeInterval(3_600),
          files: [
            ExportFacts.File(
              name: "1800000000-1800014400-00001.zip", bytes: 12_345, keyCount: 512, isSigned: true,
              hash: hash, end: 1_800_014_400),
            ExportFacts.File(
              name: "1799985600-1800000000-00001.zip", bytes: 12_345, keyCount: 511, padding: 300,
              isSigned: true, hash: hash, end: 1_800_000_000),
          ])
      ]
      console.authority.state.withdrawn = [hash]
      let browser = try await console.signedIn(.epidemiologist)
      let text = try await browser.get("/exports").text
      #expect(!text.contains("action=\"/phones/"), "an epidemiologist may not withdraw files")
      for part in [
        "Next file at 2027-01-15 10:00 CET, every 4 hours", "at least 500 keys", "12345",
        "<td>512</td>\n<td>–</td>", "<td>511</td>\n<td>300</td>",
        "valid, withdrawn", "\(hash)",
      ] {
        #expect(text.contains(part), "\(part)")
      }
      console.authority.state.exports = [
        ExportFacts(
          root: "", region: "PL", periodSeconds: 3_600, keysMin: 500,
          nextFile: RunningConsole.start, files: [])
      ]
      #expect(try await browser.get("/exports").text.contains("every 60 minutes"))
    }
  }
}
