// SPDX-License-Identifier: Apache-2.0
/// The templates of changes that need two people.
enum ChangeTemplates {
  private static let effect = """
    <ul class="effect">
    {{#sentences}}<li>{{text}}</li>{{/sentences}}
    </ul>
    """

  static let change = """
    <h1>{{t.changeTitle}}</h1>
    <p class="lead">{{t.changeLead}}</p>
    \(LayoutTemplate.notices)
    <form method="post" action="/changes" class="card" aria-labelledby="change-name">
    <h2 id="change-name">{{title}}</h2>
    \(effect)
    <p class="help" id="people">{{people}}</p>
    \(LayoutTemplate.token)
    <input type="hidden" name="change" value="{{change}}">
    <label for="reason">{{t.configurationReason}}</label>
    <textarea id="reason" name="reason" rows="2" required maxlength="{{reasonMax}}">{{reason}}</textarea>
    {{#aloneHelp}}<p class="help">{{aloneHelp}}</p>{{/aloneHelp}}
    <div class="actions"><button id="request" class="primary">{{t.changeRequest}}</button>
    {{#alone}}<button id="now" class="danger" name="when" value="now">{{alone}}</button>{{/alone}}
    <a class="button" href="/changes">{{t.changeCancel}}</a></div>
    </form>
    """

  static let changes = """
    <h1>{{t.changesTitle}}</h1>
    <p class="lead">{{lead}}</p>
    \(LayoutTemplate.notices)
    <h2>{{t.changesOpen}}</h2>
    {{#open}}
    <section class="card" aria-labelledby="change-{{id}}">
    <h3 id="change-{{id}}">{{title}}</h3>
    <p><strong>{{by}}</strong></p>
    <p>{{reason}}</p>
    \(effect)
    {{#impossible}}<p class="fault">{{impossible}}</p>{{/impossible}}
    {{#obstacle}}<p>{{obstacle}}</p>{{/obstacle}}
    <div class="actions">
    {{#canApprove}}
    <form method="post" action="/changes/{{id}}/approve">\(LayoutTemplate.token)
    <input type="hidden" id="effect-{{id}}" name="effect" value="{{effect}}">
    <button id="approve-{{id}}" class="primary" aria-label="{{t.changeApprove}}: {{title}}">{{t.changeApprove}}</button>
    </form>
    {{/canApprove}}
    {{#canReject}}
    <form method="post" action="/changes/{{id}}/reject">\(LayoutTemplate.token)
    <button id="reject-{{id}}" aria-label="{{t.configurationReject}}: {{title}}">\
    {{t.configurationReject}}</button></form>
    {{/canReject}}
    </div>
    </section>
    {{/open}}
    {{^hasOpen}}<p>{{t.changesNone}}</p>{{/hasOpen}}
    {{#hasHistory}}
    <h2>{{t.configurationHistory}}</h2>
    \(LayoutTemplate.wide("changes-caption"))
    <table id="history"><caption id="changes-caption">{{t.changesHistoryCaption}}. {{t.zone}}</caption>
    <thead><tr><th scope="col">{{t.time}}</th><th scope="col">{{t.changeColumn}}</th>
    <th scope="col">{{t.configurationReason}}</th><th scope="col">{{t.configurationDecision}}</th></tr></thead>
    <tbody>
    {{#history}}<tr><td class="time">{{time}}</td><td>{{title}}</td><td>{{by}}<br>{{reason}}</td><td>{{decision}}</td>
    </tr>{{/history}}
    </tbody></table></div>
    {{/hasHistory}}
    """
}
