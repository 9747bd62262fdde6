// SPDX-License-Identifier: Apache-2.0
import Browser
import Foundation
import PhoneProcess
import ServedSystem
import TestSupport
import Testing
import TextEncodings

extension BrowserSuite {
  @Suite("The installation of the web app")
  struct InstallationTests {
    @Test(
      "The browser accepts the manifest, and every icon has the size that it states",
      .timeLimit(.minutes(Patience.minutes)))
    func manifest() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          let answer = try await browser.devTools("Page.getAppManifest")
          #expect(answer["errors"].elements.isEmpty, "\(answer["errors"])")
          let manifest = try JSONDecoder().decode(
            JSONValue.self, from: Data((answer["data"].string ?? "").utf8))
          #expect(manifest["name"].string == "Firebreak")
          #expect(manifest["display"].string == "standalone")
          let icons = manifest["icons"].elements
          let sizes = icons.compactMap { $0["sizes"].string }
          // Chromium offers the installation of an app with an icon of at least 144 pixels.
          #expect(sizes.contains("192x192") && sizes.contains("512x512"))
          for icon in icons where icon["sizes"].string != "any" {
            let size = try await browser.script(
              """
              const image = new Image();
              image.src = arguments[0];
              return image.decode().then(() => `${image.naturalWidth}x${image.naturalHeight}`);
              """, icon["src"] ?? .null)
            #expect(size == icon["sizes"])
          }
          // An app that can be installed works without a network.
          try await browser.wait(until: "navigator.serviceWorker.ready.then(() => true)")
        }
      }
    }

    @Test(
      "The page offers the installation once the browser does, and no longer after it",
      .timeLimit(.minutes(Patience.minutes)))
    func offer() async throws {
      let scene = try await WebAppScene(servers: .ofSuite)
      try await scene.phone.serving { phone in
        try await Browser.withRunning { browser in
          try await browser.openFinished(phone)
          try await browser.go("/about", to: "about")
          let button = "document.querySelector('[data-action=install]')"
          #expect(try await browser.script("return !\(button)").isTruthy)
          try await browser.offerInstallation()
          try await browser.go("/more", to: "more")
          try await browser.go("/about", to: "about")
          try await browser.script("\(button).click()")
          try await browser.wait(until: "window.installationWasAsked === true && !\(button)")
        }
      }
    }
  }
}

extension Browser {
  /// Offers the installation as a browser with a user interface does.
  func offerInstallation() async throws {
    try await script(
      """
      const offer = new Event('beforeinstallprompt', { cancelable: true });
      offer.prompt = () => { window.installationWasAsked = true; return Promise.resolve(); };
      window.dispatchEvent(offer);
      """)
  }
}
