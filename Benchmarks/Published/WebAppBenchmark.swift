// SPDX-License-Identifier: Apache-2.0
import Browser
import Crypto
import Foundation
import TestSupport
import TextEncodings

/// The web app in a headless browser: the first paint, the layout shifts while it loads, and the size of all its files.
struct WebAppBenchmark {
  /// The number of loads with an empty cache; the median counts.
  private static let loads = 7

  /// The `firebreak` program.
  let executable: URL

  /// Runs a phone without servers and loads its pages.
  ///
  /// - Returns: The figures as a JSON object.
  /// - Throws: If the phone or the browser cannot be started.
  func run() async throws -> JSONValue {
    let folder = try TemporaryFolder()
    return try await ChildProcess.withRunning(executable, try arguments(in: folder)) { process in
      let line = try await process.firstLine() ?? ""
      let ready = JSONValue(text: line)
      guard let address = ready["web"].string else {
        throw WebAppBenchmarkError(reason: try process.errors)
      }
      return try await Browser.withRunning { browser in
        try await measure(browser, at: address)
      }
    }
  }

  private func measure(_ browser: Browser, at address: String) async throws -> JSONValue {
    var paints: [Double] = []
    var shifts: [Double] = []
    for _ in 0..<Self.loads {
      try await browser.devTools("Network.enable")
      try await browser.devTools("Network.clearBrowserCache")
      try await browser.devTools(
        "Storage.clearDataForOrigin",
        [
          "origin": .string(String(address.prefix { $0 != "?" }.dropLast())),
          "storageTypes": .string("service_workers,cache_storage"),
        ])
      try await browser.open(address)
      try await browser.wait(until: "document.querySelector('main[data-screen]:not([aria-busy])')")
      let figures = try await browser.script(Self.figures)
      paints.append(figures["paint"].number ?? .infinity)
      shifts.append(figures["shift"].number ?? .infinity)
    }
    try await browser.wait(until: "navigator.serviceWorker.controller")
    var bytes = 0.0
    // The service worker caches every file; it may still be fetching some.
    try await Patience.until {
      let before = bytes
      bytes = try await browser.script(Self.keptBytes).number ?? 0
      return bytes > 0 && bytes == before
    }
    try await browser.devTools("Network.setBypassServiceWorker", ["bypass": .bool(true)])
    let transferred = try await browser.script(Self.transferredBytes).number ?? .infinity
    paints.sort()
    return [
      "loads": .number(Double(Self.loads)),
      "firstPaintSeconds": .number(paints[paints.count / 2] / 1_000),
      "firstPaintsMilliseconds": .array(paints.map(JSONValue.number)),
      "layoutShift": .number(shifts.max() ?? 0), "filesKiB": .number(transferred / 1_024),
      "filesKiBUncompressed": .number(bytes / 1_024),
    ]
  }

  /// The time of the first content and the sum of all layout shifts so far.
  private static let figures = """
    return new Promise(resolve => {
      const shifts = [];
      new PerformanceObserver(list => shifts.push(...list.getEntries()))
        .observe({ type: 'layout-shift', buffered: true });
      requestAnimationFrame(() => setTimeout(() => resolve({
        paint: performance.getEntriesByName('first-contentful-paint')[0]?.startTime,
        shift: shifts.reduce((sum, entry) => sum + entry.value, 0),
      }), 100));
    })
    """

  /// The number of bytes of all files that the service worker keeps, without compression.
  private static let keptBytes = """
    return caches.keys().then(names => Promise.all(names.map(async name => {
      const cache = await caches.open(name);
      const answers = await Promise.all((await cache.keys()).map(key => cache.match(key)));
      const bodies = await Promise.all(answers.map(answer => answer.arrayBuffer()));
      return bodies.reduce((sum, body) => sum + body.byteLength, 0);
    }))).then(sums => sums.reduce((sum, one) => sum + one, 0))
    """

  /// The number of bytes in which the same files, the catalogues of all languages among them, are transferred.
  private static let transferredBytes = """
    return caches.keys().then(async names => {
      performance.setResourceTimingBufferSize(1000);
      performance.clearResourceTimings();
      for (const name of names) {
        for (const request of await (await caches.open(name)).keys()) {
          await (await fetch(request.url, { cache: 'reload' })).arrayBuffer();
        }
      }
      return performance.getEntriesByType('resource')
        .reduce((sum, entry) => sum + entry.encodedBodySize, 0);
    })
    """

  /// A new phone, whose servers do not answer.
  private func arguments(in folder: TemporaryFolder) throws -> [String] {
    let rootKey = folder.path("root.pem")
    try Data(P256.Signing.PrivateKey().publicKey.pemRepresentation.utf8).write(to: rootKey)
    let configuration = folder.path("phone.json")
    let fields: [String: Any] = [
      "verificationServer": "http://127.0.0.1:9", "keyServer": "http://127.0.0.1:9",
      "rootKey": rootKey.path, "regions": ["PL"], "appID": "org.example.app", "platform": "android",
      "radio": "none",
    ]
    try JSONSerialization.data(withJSONObject: fields).write(to: configuration)
    return [
      "phone", "--data", folder.path("phone").path, "--config", configuration.path,
      "--create-key", folder.path("phone.key").path, "run", "--json", "--web", "0",
    ]
  }
}

/// The phone did not start.
struct WebAppBenchmarkError: Error, CustomStringConvertible {
  let reason: String

  var description: String { "The phone did not start: \(reason)" }
}
