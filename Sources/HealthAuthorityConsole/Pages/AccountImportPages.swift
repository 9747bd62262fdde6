// SPDX-License-Identifier: Apache-2.0
import Foundation
import Hummingbird
import QuietHTTP
import ServerStorage
import World

/// The page on which many accounts are requested from a list of names and roles.
struct AccountImportPages: Sendable {
  let pages: PageRouter
  let changes: ChangePages

  func add(to router: Router<QuietContext>) {
    let access = PageRouter.Access.holders(of: .administerAccounts)
    pages.get(router, "/accounts/import", access) { form($0) }
    pages.post(router, "/accounts/import", access, request)
  }

  private func form(
    _ visit: Visit, lines: String = "", faults: [CodeList.Fault] = [], fault: String? = nil
  ) -> Response {
    let texts = visit.texts
    var values: [String: Any] = [
      "lines": lines, "lead": texts[.importLead, "\(ConsoleLimit.importedAccountsMax)"],
      "faults": faults.map { ["text": $0.text(texts)] }, "hasFaults": !faults.isEmpty,
      "example": texts.accountListExample,
    ]
    if let fault = fault ?? (faults.isEmpty ? nil : texts[.importFaults, "\(faults.count)"]) {
      values["fault"] = fault
    }
    let isRefused = values["fault"] != nil
    return pages.renderer.response(
      Page(
        texts[.importTitle], .accountImport, values,
        status: isRefused ? .unprocessableContent : .ok), for: visit)
  }

  private func request(_ visit: Visit, _ form: Form) async throws -> Response {
    let text: String
    do throws(ListText.Fault) {
      text =
        form.file("file").isEmpty
        ? form.exact("lines") : try ListText.decoded(form.file("file"))
    } catch {
      let key: TextKey = error == .workbook ? .batchWorkbook : .batchNotText
      return self.form(visit, fault: visit.texts[key])
    }
    let accounts: [NewAccount]
    let taken = try await changes.accounts.all().map(\.name)
    do throws(CodeList.Faults) { accounts = try AccountList.accounts(text, taken: taken) } catch {
      return self.form(visit, lines: text, faults: error.all)
    }
    do {
      return try await changes.ask(.addAccounts(accounts: accounts), visit)
    } catch AuthorityFailure.refused(let message) {
      return self.form(visit, lines: text, fault: message)
    }
  }
}

/// A list of accounts: a name and a role in each line.
enum AccountList {
  /// Reads the lines of a list.
  ///
  /// - Parameters:
  ///   - text: The list.
  ///   - taken: The names of the accounts that exist.
  /// - Throws: All faults of the list, with the lines of the file.
  static func accounts(
    _ text: String, taken: [String]
  ) throws(CodeList.Faults) -> [NewAccount] {
    var rows = CSV.rows(text)
    if rows.first.map({ role(of: $0) == nil && isHeader($0.fields) }) == true { rows.removeFirst() }
    guard !rows.isEmpty else { throw fault(.batchEmpty) }
    guard rows.count <= ConsoleLimit.importedAccountsMax else {
      throw fault(.batchTooMany, "\(ConsoleLimit.importedAccountsMax)")
    }
    var (accounts, faults): ([NewAccount], [CodeList.Fault]) = ([], [])
    let taken = Set(taken.map(LookAlikeName.init))
    var known: [LookAlikeName: Int] = [:]
    for row in rows {
      func add(_ key: TextKey, _ values: String...) {
        faults.append(CodeList.Fault(line: row.line, key: key, values: values))
      }
      guard row.isClosed else {
        add(.batchBadQuote)
        continue
      }
      let name = AccountName.checked(row.fields[0], ConsoleLimit.nameCharacters)
      let role = role(of: row)
      if name == nil { add(.accountBadName) }
      if role == nil { add(.importBadRole) }
      guard let name else { continue }
      let shape = LookAlikeName(name)
      if taken.contains(shape) { add(.importTaken, name) }
      if let before = known.updateValue(row.line, forKey: shape) {
        add(.importTwice, name, "\(before)")
      }
      if let role { accounts.append(NewAccount(name: name, role: role)) }
    }
    guard faults.isEmpty else { throw CodeList.Faults(all: faults) }
    return accounts
  }

  private static func fault(_ key: TextKey, _ values: String...) -> CodeList.Faults {
    CodeList.Faults(all: [CodeList.Fault(line: nil, key: key, values: values)])
  }

  private static func isHeader(_ fields: [String]) -> Bool {
    ["name", "nazwa", "imię i nazwisko"].contains(fields[0].lowercased())
  }

  /// The role of a line, in English or in the words of the pages.
  private static func role(of row: CSV.Row) -> Role? {
    guard row.fields.count > 1 else { return nil }
    let word = row.fields[1].trimmingCharacters(in: .whitespaces).lowercased()
    return Role.allCases.first { role in
      role.rawValue == word
        || ConsoleLanguage.allCases.contains { Texts.text(role.textKey, in: $0) == word }
    }
  }
}

extension Texts {
  /// A list of accounts as the page explains it, in its language.
  fileprivate var accountListExample: String {
    [("Anna Nowak", Role.issuer), ("Jan Kowalski", Role.epidemiologist)]
      .map { $0 + CSV.separator(for: language) + self[$1.textKey] }.joined(separator: "\n")
  }
}

/// The template of the list of accounts.
enum AccountImportTemplates {
  static let accountImport = """
    <h1>{{t.importTitle}}</h1>
    <p class="lead">{{lead}}</p>
    <pre class="example">{{example}}</pre>
    \(LayoutTemplate.notices)
    {{#hasFaults}}<ul id="faults">{{#faults}}<li>{{text}}</li>{{/faults}}</ul>{{/hasFaults}}
    <form method="post" action="/accounts/import" enctype="multipart/form-data" class="card">
    \(LayoutTemplate.token)
    <label for="file">{{t.batchFile}}</label>
    <input id="file" name="file" type="file" class="drop" accept=".csv,.txt,text/csv,text/plain"\
     aria-describedby="file-help">
    <p class="help" id="file-help">{{t.batchFileHelp}}</p>
    <label for="lines">{{t.batchText}}</label>
    <textarea id="lines" name="lines" rows="8" spellcheck="false">
    {{lines}}</textarea>
    <button id="import" class="primary">{{t.accountAddButton}}</button>
    </form>
    """
}
