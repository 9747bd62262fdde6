import Foundation
import NIOHTTP1
import Synchronization

/// Apple's server or a gateway of SMS: remembers what it was asked and answers what the test says.
final class StandInAuthority: Sendable {
  /// What it answers.
  struct Reply: Sendable {
    var status = 200
    var body = ""
  }

  /// What it was asked, and what it answers now.
  private final class Book: Sendable {
    let pages: Mutex<(questions: [StandInServer.Question], reply: Reply)>

    init(_ first: Reply) { pages = Mutex(([], first)) }
  }

  private let book: Book
  private let server: StandInServer

  var questions: [StandInServer.Question] { book.pages.withLock { $0.questions } }
  var address: String { server.address }

  func now(says new: Reply) { book.pages.withLock { $0.reply = new } }

  init(_ first: Reply = Reply()) throws {
    let book = Book(first)
    self.book = book
    server = try StandInServer { question in
      let reply = book.pages.withLock { pages in
        pages.questions.append(question)
        return pages.reply
      }
      return StandInServer.Reply(
        status: reply.status, headers: ["content-length": "\(reply.body.utf8.count)"],
        body: reply.body)
    }
  }
}
