// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

@testable import HealthAuthorityConsole

/// The files of the console, opened by LibreOffice. `make prove` installs it.
@Suite("Proof: lists in LibreOffice", .enabled(if: Proof.isRunning), .needs(.process), .serialized)
struct LibreOfficeTests {
  private static let program = URL(fileURLWithPath: "/usr/bin/soffice")
  private let folder: TemporaryFolder

  init() throws { folder = try TemporaryFolder() }

  /// The cells that LibreOffice shows for a file.
  private func cells(of file: Data, in language: ConsoleLanguage) async throws -> [[String]] {
    let list = folder.path("list.csv")
    try file.write(to: list)
    // Separator, quotation mark, UTF-8, first line, columns, locale, no text in quotation marks, special numbers: as
    // the dialog proposes them for a file with a byte order mark.
    let separator = CSV.separator(for: language).utf8.first ?? 0
    let locale = language == .polish ? 1045 : 1033
    let filter = "Text - txt - csv (StarCalc)"
    let result = try await ChildProcess.run(
      Self.program,
      [
        "--headless", "--norestore",
        "-env:UserInstallation=\(folder.path("profile").absoluteString)",
        "--infilter=\(filter):\(separator),34,76,1,,\(locale),false,true",
        "--convert-to", "csv:\(filter):9,34,76,1,,0,false,true",
        "--outdir", folder.path("opened").path, list.path,
      ])
    #expect(result.status == 0, "\(result.errors)")
    let opened = folder.path("opened").appendingPathComponent("list.csv")
    return CSV.fields(try String(contentsOf: opened, encoding: .utf8))
  }

  @Test(
    "Every field of a list is shown as it was written, with its time and zone, and no zero is lost",
    .timeLimit(.minutes(Patience.minutes)), arguments: ConsoleLanguage.allCases)
  func fields(language: ConsoleLanguage) async throws {
    let codes = ["012345678", "00119922", "012E45", "000001", "1MAR20", "AB101C", "594619003"]
    let zone = OfficeTime(
      zone: try #require(TimeZone(identifier: "Europe/Warsaw")), language: language)
    let rows = codes.enumerated().map { index, code in
      let issued = IssuedCode(uuid: UUID(), code: code, expiresAt: RunningConsole.start)
      return [
        "Łódź; \(index), \"A\"", issued.forSpreadsheet, zone.clockTime(issued.expiresAt),
        zone.column(at: issued.expiresAt), issued.uuid.uuidString.lowercased(), "+1",
      ]
    }
    let file = CSV.text(rows, separator: CSV.separator(for: language))
    let cells = try await cells(of: Data(file.utf8), in: language)
    // LibreOffice reads the time as one and adds its seconds.
    #expect(cells == rows.map { [$0[0], $0[1], $0[2] + ":00", $0[3], $0[4], "'+1"] })
  }

  @Test(
    "Every file of the console has the same table in LibreOffice",
    .timeLimit(.minutes(Patience.minutes)), arguments: ConsoleLanguage.allCases)
  func downloads(language: ConsoleLanguage) async throws {
    try await RunningConsole.run(in: folder.url, authority: try SimulatedAuthority.inUse()) {
      console async throws in
      let ewa = try await console.signedIn(
        .epidemiologist, name: "Ewa", language: language.rawValue)
      let anna = try await console.signedIn(.issuer, name: "Anna")
      let batch = try await anna.get("/codes/batch").field("batch")
      _ = try await anna.post("/codes/batch", ["batch": batch, "lines": "A-1,likely"])
      for path in ["/funnel/csv", "/officials/csv", "/issuers/csv", "/attempts/csv"] {
        let file = try await ewa.get(path)
        let written = CSV.fields(file.text)
        #expect(written.count > 1, "\(path)")
        let shown = try await cells(of: Data(file.text.utf8), in: language)
        #expect(shown == written, "\(path)")
      }
    }
  }
}
