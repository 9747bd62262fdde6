// SPDX-License-Identifier: Apache-2.0
import Hummingbird
import Testing
import WebPages

@Suite("Files that are installed beside the program")
struct InstalledFilesTests {
  @Test("The pointer guard is served as a script, and no other path is")
  func shared() throws {
    let files = try InstalledFiles(shared: [.pointerGuard])
    let response = try #require(files.response(to: "/pointer-guard.js", cacheControl: "no-cache"))
    #expect(response.status == .ok)
    #expect(response.headers[.contentType] == "text/javascript; charset=utf-8")
    #expect(response.headers[.cacheControl] == "no-cache")
    for path in ["/", "/index.html", "/../pointer-guard.js", "pointer-guard.js"] {
      #expect(files.response(to: path, cacheControl: "no-cache") == nil, "\(path)")
    }
  }

  @Test("A file that is not installed is named by its path")
  func missing() throws {
    let error = #expect(throws: PageServerError.self) {
      try InstalledFiles(["page.js"], in: "Files", of: "None", shared: [.pointerGuard])
    }
    guard case .missingFile(let path) = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(path.hasSuffix("/firebreak_None.resources/Files/page.js"))
    #expect(
      "\(PageServerError.missingFile(path))" == "\(path) is missing: install the program again.")
  }
}
