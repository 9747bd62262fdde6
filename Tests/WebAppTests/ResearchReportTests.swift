// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension DemonstrationSuite {
  /// The reports of `firebreak simulate` and `firebreak trials` in a browser.
  @Suite("Reports for researchers in a browser") struct ResearchReportTests {
    private let folder: TemporaryFolder

    init() throws {
      folder = try TemporaryFolder()
    }

    @Test("The report of a simulation fits a screen of 360 pixels and a sheet of paper")
    func simulation() async throws {
      let scenario = folder.path("scenario.json")
      try """
      {"name": "Two days", "days": 2, "contacts": {"people": 12}, "adoption": [0.5, 1],
       "app": {"minimumKeys": 0}}
      """.write(to: scenario, atomically: true, encoding: .utf8)
      let run = try await Run("simulate", scenario.path, "--output", folder.url.path)
      try #require(run.status == 0, "\(run.errors)")
      try await check(folder.path("report.html"))
    }

    @Test(
      "The report of trials fits a screen of 360 pixels and a sheet of paper",
      .enabled(if: SharedData.isPresent, "\(SharedData.absence)"))
    func trials() async throws {
      let page = folder.path("trials.html")
      let run = try await Run(
        "trials", SharedData.url("fieldtrials").path, "--report", page.path)
      try #require(run.status == 0, "\(run.errors)")
      try await check(page)
    }

    private func check(_ page: URL) async throws {
      try await Browser.withRunning { browser in
        try await browser.open(page.absoluteString)
        for colors in [EmulatedDisplay.Colors.light, .dark] {
          let display = EmulatedDisplay(colors: colors, width: 360)
          try await browser.emulate(display)
          let violations = try await browser.accessibilityViolations(onlyColors: colors == .dark)
          #expect(violations.isEmpty, "\(colors): \(violations)")
          #expect(try await browser.overflow() == [], "\(colors)")
        }
        #expect(try await browser.overflowOnPaper() == [])
      }
    }
  }
}

extension Browser {
  /// The elements that end beyond the right edge of the window, by tag and text.
  fileprivate func overflow() async throws -> [String] {
    let names = try await script(
      """
      return [...document.querySelectorAll('body *')]
        .filter(each => each.getBoundingClientRect().right > innerWidth + 0.5)
        .map(each => each.tagName + ' ' + each.textContent.trim().slice(0, 20));
      """)
    return names.elements.compactMap(\.string)
  }

  /// The same on A4 paper with margins of a centimetre, in the style for print; also dark colors, which would use ink.
  func overflowOnPaper() async throws -> [String] {
    try await emulate(EmulatedDisplay(colors: .dark, width: 718, height: 1_047))
    try await devTools("Emulation.setEmulatedMedia", ["media": "print"])
    let scheme = try await script("return getComputedStyle(document.documentElement).colorScheme")
    return try await overflow() + (scheme == "light" ? [] : ["colors \(scheme)"])
  }
}
