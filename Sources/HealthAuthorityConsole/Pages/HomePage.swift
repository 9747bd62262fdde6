// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import QuietHTTP

/// The start page: the tasks of the role, and the number of requests that wait for a decision.
struct HomePage: Sendable {
  let pages: PageRouter
  let changes: ChangePages
  let configuration: ConfigurationPages

  func add(to router: Router<QuietContext>) {
    pages.get(router, "/", .signedIn, show)
  }

  private func show(_ visit: Visit) async throws -> Response {
    let (texts, own) = (visit.texts, try visit.account)
    let entries = MenuEntry.entries(for: own.role).map { entry in
      ["path": entry.path, "title": texts[entry.title], "text": texts[entry.text]]
    }
    let waiting = [
      ("/changes", TextKey.changesWaiting, try await changes.waiting(for: own)),
      ("/configuration", .configurationWaiting, try await configuration.waiting(for: own)),
    ].filter { $0.2 > 0 }.map { ["path": $0.0, "text": texts[$0.1, "\($0.2)"]] }
    return pages.renderer.response(
      Page(
        texts[.home], .home,
        ["entries": entries, "isWaiting": !waiting.isEmpty, "waiting": waiting]), for: visit)
  }
}
