// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension DemonstrationSuite {
  /// The HTML report of `firebreak demo` in a browser.
  @Suite("Report of the demo in a browser") struct DemoReportTests {
    @Test(
      "The report of a run has no violation at 360 and 1280 pixels, light and dark, and fits paper")
    func accessible() async throws {
      let folder = try TemporaryFolder()
      let file = folder.path("demo.html")
      let run = try await Run("demo", "--json", "--report", file.path)
      #expect(run.status == 0, "\(run.errors)")
      try await Browser.withRunning { browser in
        try await browser.open(file.absoluteString)
        for colors in [EmulatedDisplay.Colors.light, .dark] {
          for width in [360, 1280] {
            try await browser.emulate(EmulatedDisplay(colors: colors, width: width))
            // The rules that do not depend on colors have passed in the light ones.
            let violations = try await browser.accessibilityViolations(
              onlyColors: colors == .dark)
            #expect(violations.isEmpty, "\(colors) \(width): \(violations)")
            let fits = try await browser.script(
              """
              const wide = document.documentElement.scrollWidth > innerWidth;
              const picture = document.querySelector('svg').getBoundingClientRect();
              return !wide && picture.right <= innerWidth && picture.left >= 0;
              """)
            #expect(fits == true, "\(colors) \(width)")
          }
        }
        #expect(try await browser.badgeContrast(.dark) >= 4.5)
        #expect(try await browser.badgeContrast(.light) >= 4.5)
        #expect(try await browser.overflowOnPaper() == [])
      }
    }
  }
}

extension Browser {
  /// The smallest contrast of a number and its badge, in the list and in the picture.
  fileprivate func badgeContrast(_ colors: EmulatedDisplay.Colors) async throws -> Double {
    try await emulate(EmulatedDisplay(colors: colors, width: 360))
    let result = try await script(
      """
      const light = color => {
        const parts = color.match(/[0-9.]+/g).slice(0, 3).map(Number).map(part => {
          const value = part / 255;
          return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
        });
        return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2];
      };
      const contrast = (one, other) => {
        const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
        return (high + 0.05) / (low + 0.05);
      };
      const list = [...document.querySelectorAll('.badge')].map(badge => {
        const style = getComputedStyle(badge);
        return contrast(style.color, style.backgroundColor);
      });
      const picture = [...document.querySelectorAll('svg g')].map(badge => contrast(
        getComputedStyle(badge.querySelector('text')).fill,
        getComputedStyle(badge.querySelector('circle')).fill));
      return Math.min(...list, ...picture);
      """)
    guard case .number(let contrast) = result else { return 0 }
    return contrast
  }
}
