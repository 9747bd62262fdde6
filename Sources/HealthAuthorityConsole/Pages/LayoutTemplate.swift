// SPDX-License-Identifier: Apache-2.0
/// The frame of all pages, the start page and the page for messages.
enum LayoutTemplate {
  static let layout = """
    <!doctype html>
    <html lang="{{language}}">
    <head>
    <meta charset="utf-8">
    <meta name="viewport" content="width=device-width, initial-scale=1">
    <meta name="color-scheme" content="light dark">
    <title>{{title}} – {{t.console}}</title>
    <link rel="stylesheet" href="/style.css">
    </head>
    <body>
    <a class="skip" href="#content">{{t.skip}}</a>
    <header class="bar">
    <p class="brand"><a href="/">{{t.console}}</a></p>
    <nav class="languages" aria-label="{{t.languageSwitch}}"><ul>
    {{#languages}}
    <li><a id="language-{{code}}" href="/language/{{code}}?next={{next}}" lang="{{code}}" hreflang="{{code}}"\
    {{#isCurrent}} aria-current="true"{{/isCurrent}}>{{name}}</a></li>
    {{/languages}}
    </ul></nav>
    {{#session}}
    <form class="sign-out" method="post" action="/sign-out">
    <p id="signed-in">{{text}}</p>
    <input type="hidden" name="form-token" value="{{formToken}}">
    <button id="sign-out" class="quiet">{{t.signOut}}</button>
    </form>
    {{/session}}
    </header>
    <div class="columns{{^session}} single{{/session}}">
    {{#session}}
    <nav class="menu" aria-label="{{t.menu}}"><ul>
    {{#menu}}
    <li><a href="{{path}}"{{#isCurrent}} aria-current="page"{{/isCurrent}}>{{title}}</a></li>
    {{/menu}}
    </ul></nav>
    {{/session}}
    <main id="content" tabindex="-1">
    {{{content}}}
    </main>
    </div>
    </body>
    </html>
    """

  static let message = """
    <h1>{{title}}</h1>
    <p class="lead" id="message">{{text}}</p>
    {{#signIn}}<p><a class="button primary" href="/sign-in">{{t.toSignIn}}</a></p>{{/signIn}}
    {{#home}}<p><a class="button" href="/">{{t.toStart}}</a></p>{{/home}}
    """

  static let home = """
    <h1>{{t.home}}</h1>
    {{#isWaiting}}<ul class="attention" id="waiting">
    {{#waiting}}<li><a href="{{path}}">{{text}}</a></li>{{/waiting}}
    </ul>{{/isWaiting}}
    <p class="lead">{{t.homeLead}}</p>
    <ul class="cards">
    {{#entries}}
    <li><a href="{{path}}"><strong>{{title}}</strong><span>{{text}}</span></a></li>
    {{/entries}}
    </ul>
    """

  /// The hidden field with the session's CSRF token.
  static let token = """
    <input type="hidden" name="form-token" value="{{formToken}}">
    """

  /// The start tag of a section that scrolls horizontally on a small display, also with the keyboard.
  ///
  /// - Parameter label: The id of its heading or caption.
  static func wide(_ label: String) -> String {
    "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-labelledby=\"\(label)\">"
  }

  /// The result of the last step, announced by screen readers.
  static let notices = """
    {{#fault}}<p class="fault" role="alert" id="fault">{{fault}}</p>{{/fault}}
    {{#notice}}<p class="notice" role="status" id="notice">{{notice}}</p>{{/notice}}
    """
}
