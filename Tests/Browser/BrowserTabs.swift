// SPDX-License-Identifier: Apache-2.0
import TextEncodings

extension Browser {
  /// A tab of the browser's window. Commands go to the one in use.
  public struct Tab: Hashable, Sendable {
    fileprivate let handle: String
  }

  /// The tab in use.
  public func tab() async throws -> Tab {
    Tab(handle: try await connection.send(.GET, "/window").string ?? "")
  }

  /// Opens an empty tab and uses it.
  public func newTab() async throws -> Tab {
    let opened = try await connection.send(.POST, "/window/new", ["type": "tab"])
    let tab = Tab(handle: opened["handle"].string ?? "")
    try await use(tab)
    return tab
  }

  /// Sends further commands to `tab`.
  public func use(_ tab: Tab) async throws {
    _ = try await connection.send(.POST, "/window", ["handle": .string(tab.handle)])
  }

  /// Closes the tab in use, and uses `next`.
  public func closeTab(thenUse next: Tab) async throws {
    _ = try await connection.send(.DELETE, "/window")
    try await use(next)
  }
}
