// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import VerificationAPI

/// Makes the links of texts open the app: the files by which Apple's systems and Android know the app of a domain, and
/// the link itself for phones on which no app has taken it.
struct SMSLinkRoutes: Sendable {
  let targets: SMSLinkTargets
  let region: String

  /// GET: the apps of Apple's systems for the links of this domain (Universal Links).
  static let appleFile = "/.well-known/apple-app-site-association"
  /// GET: the Android apps for the links of this domain (Digital Asset Links).
  static let androidFile = "/.well-known/assetlinks.json"
  /// GET: the link of a text, with the code in `c`.
  static let link = "/v"

  private static let maxAgeSeconds = 3_600

  func add(to router: Router<QuietContext>) {
    let targets = targets
    router.page(RouterPath(Self.appleFile)) {
      try QuietPage(AppleApps(targets.appleApps), maxAgeSeconds: Self.maxAgeSeconds)
    }
    router.page(RouterPath(Self.androidFile)) {
      try QuietPage(AndroidApp.list(targets.androidApps), maxAgeSeconds: Self.maxAgeSeconds)
    }
    router.get(RouterPath(Self.link)) { request, _ in try redirection(of: request) }
  }

  /// The redirection of a phone on which the app is not installed, or whose browser has opened the link itself.
  private func redirection(of request: Request) throws -> Response {
    guard let text = request.uri.queryParameters["c"].map(String.init), let code = LongCode(text),
      let target = target(code.characters, agent: request.headers[.userAgent] ?? "")
    else { throw QuietRefusal.notFound }
    var response = Response(
      status: .seeOther, headers: [.location: target, .cacheControl: "no-store"])
    if let policy = HTTPFields.Element.Name("referrer-policy") {
      response.headers[policy] = "no-referrer"
    }
    return response
  }

  /// The address for a phone; nil if there is neither an app for it nor a page.
  func target(_ code: String, agent: String) -> String? {
    let page = targets.appPage.map { "\($0.absoluteString)#c=\(code)" }
    let app = targets.androidApps.keys.min()
    guard agent.contains("Android"), let app else {
      let isApple = ["iPhone", "iPad", "iPod"].contains(where: agent.contains)
      return page ?? (isApple ? "ens://v?r=\(region)&c=\(code)" : nil)
    }
    var intent = "intent://v?r=\(region)&c=\(code)#Intent;scheme=ens;package=\(app)"
    intent += ";action=android.intent.action.VIEW"
    let fallback = page ?? "https://play.google.com/store/apps/details?id=\(app)"
    if let fallback = fallback.addingPercentEncoding(withAllowedCharacters: .alphanumerics) {
      intent += ";S.browser_fallback_url=\(fallback)"
    }
    return intent + ";end"
  }

  /// The content of Apple's file.
  private struct AppleApps: Encodable {
    struct Details: Encodable {
      let appID: String
      let paths = ["/v", "/v/*"]

      private enum CodingKeys: String, CodingKey {
        case appID, paths
      }
    }

    struct Links: Encodable {
      let apps: [String] = []
      let details: [Details]

      private enum CodingKeys: String, CodingKey {
        case apps, details
      }
    }

    let applinks: Links

    init(_ apps: Set<String>) {
      applinks = Links(details: apps.sorted().map { Details(appID: $0) })
    }
  }

  /// An entry of Android's file.
  private struct AndroidApp: Encodable {
    struct Target: Encodable {
      let namespace = "android_app"
      let package: String
      let fingerprints: [String]

      private enum CodingKeys: String, CodingKey {
        case namespace
        case package = "package_name"
        case fingerprints = "sha256_cert_fingerprints"
      }
    }

    let relation = ["delegate_permission/common.handle_all_urls"]
    let target: Target

    private enum CodingKeys: String, CodingKey {
      case relation, target
    }

    static func list(_ apps: [String: String]) -> [AndroidApp] {
      apps.sorted { $0.key < $1.key }.map {
        AndroidApp(target: Target(package: $0.key, fingerprints: [$0.value]))
      }
    }
  }
}
