// SPDX-License-Identifier: Apache-2.0
import TextEncodings

/// The accessibility tree of a page, as assistive technology gets it from Chromium.
public struct AccessibilityTree: Sendable {
  /// A line per node: role, name, states; children are indented.
  public let text: String

  /// - Parameter nodes: The nodes of `Accessibility.getFullAXTree`.
  init(nodes: [JSONValue]) {
    let byID = Dictionary(
      nodes.compactMap { node in node["nodeId"].string.map { ($0, node) } }
    ) { $1 }
    var lines: [String] = []
    if let root = nodes.first {
      Self.write(root, of: byID, depth: 0, enclosingName: "", to: &lines)
    }
    text = lines.joined(separator: "\n") + "\n"
  }

  /// The tree without the banner and the navigation of the site.
  public var withoutFrame: AccessibilityTree {
    var isInFrame = false
    let lines = text.split(separator: "\n").filter { line in
      if line.prefix(while: { $0 == " " }).count <= 2 {
        isInFrame = ["banner", "navigation"].contains { line.hasPrefix("  \($0)") }
      }
      return !isInFrame
    }
    return AccessibilityTree(text: lines.joined(separator: "\n") + "\n")
  }

  private init(text: String) { self.text = text }

  /// Nodes without a meaning of their own; only their children are written.
  private static let transparentRoles: Set<String> = [
    "generic", "none", "InlineTextBox", "Ignored", "LayoutTable", "LayoutTableRow",
    "LayoutTableCell", "ListMarker",
  ]
  /// The names of Chromium that differ from those of ARIA.
  private static let roleNames = [
    "RootWebArea": "document", "StaticText": "text", "DisclosureTriangle": "button",
    "DisclosureTriangleGrouped": "button", "DescriptionList": "list",
    "DescriptionListTerm": "term", "DescriptionListDetail": "definition", "LabelText": "label",
    "Details": "group",
  ]
  /// The states in the order in which they are written. `focusable` follows from the role.
  private static let states = [
    "level", "checked", "pressed", "selected", "expanded", "disabled", "required", "invalid",
    "readonly", "busy", "live", "modal", "hasPopup",
  ]

  private static func write(
    _ node: JSONValue, of nodes: [String: JSONValue], depth: Int, enclosingName: String,
    to lines: inout [String]
  ) {
    let role = node["role"]["value"].string ?? ""
    let name =
      node["name"]["value"].string?.split(whereSeparator: \.isWhitespace)
      .joined(separator: " ") ?? ""
    // Text that is already in the name of the control around it.
    let isRepeated = role == "StaticText" && (name.isEmpty || enclosingName.contains(name))
    let isWritten =
      node["ignored"].bool != true && !transparentRoles.contains(role) && !isRepeated
    if isWritten {
      let parts = [roleNames[role] ?? role, name.isEmpty ? nil : "\"\(name)\""] + states(of: node)
      lines.append(
        String(repeating: "  ", count: depth) + parts.compactMap(\.self).joined(separator: " "))
    }
    // A document's name is its title, which is not part of the page.
    let nameForChildren = isWritten && role != "RootWebArea" ? name : enclosingName
    // The text of a field is its value.
    if role == "textbox" { return }
    for child in node["childIds"].elements.compactMap(\.string).compactMap({ nodes[$0] }) {
      write(
        child, of: nodes, depth: isWritten ? depth + 1 : depth, enclosingName: nameForChildren,
        to: &lines)
    }
  }

  private static func states(of node: JSONValue) -> [String?] {
    let properties = Dictionary(
      node["properties"].elements.compactMap { property in
        property["name"].string.map { ($0, property["value"]["value"]) }
      }
    ) { $1 }
    let named = states.map { state -> String? in
      switch properties[state] ?? .null {
      case .bool(true): state
      // Items of a list have a level as well, which the indentation shows.
      case .number where state == "level" && node["role"]["value"] != "heading": nil
      case .number(let value): "\(state)=\(Int(value))"
      case .string("true"): state
      case .string(let value) where !["false", "off", ""].contains(value): "\(state)=\(value)"
      default: nil
      }
    }
    let text = node["value"]["value"].string?.split(whereSeparator: \.isWhitespace)
      .joined(separator: " ")
    let value = text.flatMap { $0.isEmpty ? nil : "value=\"\($0)\"" }
    let description = node["description"]["value"].string
      .flatMap { $0.isEmpty ? nil : "description=\"\($0)\"" }
    return named + [value, description]
  }
}

extension Browser {
  /// The accessibility tree of the page as it is now.
  public func accessibilityTree() async throws -> AccessibilityTree {
    AccessibilityTree(
      nodes: try await devTools("Accessibility.getFullAXTree")["nodes"].elements)
  }
}
