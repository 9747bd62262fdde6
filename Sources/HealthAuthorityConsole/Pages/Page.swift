// SPDX-License-Identifier: Apache-2.0
import Hummingbird

/// A page: its title, its template and the values in it.
struct Page {
  let title: String
  let template: PageTemplate
  var values: [String: Any] = [:]
  var status = HTTPResponse.Status.ok

  init(
    _ title: String, _ template: PageTemplate, _ values: [String: Any] = [:],
    status: HTTPResponse.Status = .ok
  ) {
    self.title = title
    self.template = template
    self.values = values
    self.status = status
  }
}
