// SPDX-License-Identifier: Apache-2.0
import Terminal
import Testing

@Suite("Errors of another firebreak process")
struct ErrorReportTests {
  @Test("The reason is that of the last line, as text or as JSON")
  func reason() {
    #expect(
      ErrorReport.reason(in: "firebreak: a note\nfirebreak: Port 80: no.\n") == "Port 80: no.")
    #expect(ErrorReport.reason(in: "other text") == "other text")
    #expect(
      ErrorReport.reason(in: "firebreak: a note\n{\"error\":\"No \\\"x\\\".\",\"exitCode\":2}\n")
        == "No \"x\".")
    #expect(ErrorReport.reason(in: "{\"ready\":true}") == "{\"ready\":true}")
    #expect(ErrorReport.reason(in: "") == nil)
  }
}
