# A mail server for tests: aiosmtpd, whose VRFY tells how many messages and recipients it has accepted.
# python3 server.py CERTIFICATE KEY
import asyncio, email, email.policy, hashlib, hmac, json, ssl, sys
from aiosmtpd.smtp import SMTP, AuthResult, LoginPassword

counts = {"messages": 0, "recipients": 0, "connections": 0}
last = [b""]


def parts():
    """What Python's parser makes of the last message: the subject, then each part that holds no others."""
    parsed = email.message_from_bytes(last[0], policy=email.policy.default)
    found = []
    for part in parsed.walk():
        if part.defects:
            return ["%s" % part.defects]
        if part.is_multipart():
            continue
        data = part.get_payload(decode=True)
        found.append("%s %s %s %d %s" % (part.get_content_type(), part.get_content_disposition(), part.get_filename(), len(data), hashlib.sha256(data).hexdigest()))
    return [parsed["Subject"]] + found


class Handler:
    def __init__(self, pipelines):
        self.pipelines = pipelines

    async def handle_EHLO(self, server, session, envelope, hostname, responses):
        session.host_name = hostname
        counts["connections"] += 1
        if self.pipelines:
            responses.insert(1, "250-PIPELINING")
        return responses

    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.endswith("@z.test"):
            return "550 5.1.1 no such user"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, server, session, envelope):
        if b"X-Slow" in envelope.content:
            await asyncio.sleep(0.3)
        if b"X-Refuse" in envelope.content:
            return "552 5.3.4 too big"
        counts["messages"] += 1
        counts["recipients"] += len(envelope.rcpt_tos)
        last[0] = envelope.content
        return "250 2.0.0 queued as %d" % counts["messages"]

    async def handle_VRFY(self, server, session, envelope, address):
        if address == "last":
            return "252 " + last[0].hex()
        if address == "parts":
            return "252 " + json.dumps(parts()).encode().hex()
        return "252 %(messages)d %(recipients)d %(connections)d" % counts

    async def auth_CRAM__MD5(self, server, args):
        challenge = b"<1.2@aiosmtpd>"
        said = await server.challenge_auth(challenge)
        want = b"app " + hmac.new(b"geheim", challenge, "md5").hexdigest().encode()
        return AuthResult(success=said == want, handled=False)

    async def auth_XOAUTH2(self, server, args):
        said = server._decode_base64(args[1]) if hasattr(server, "_decode_base64") else __import__("base64").b64decode(args[1])
        return AuthResult(success=said == b"user=app\x01auth=Bearer geheim\x01\x01", handled=False)


def authenticator(server, session, envelope, mechanism, data):
    ok = isinstance(data, LoginPassword) and data.login == b"app" and data.password == b"geheim"
    return AuthResult(success=ok, handled=False)


async def main():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(sys.argv[1], sys.argv[2])
    loop = asyncio.get_running_loop()
    proves = dict(authenticator=authenticator, auth_required=True)
    kinds = [
        (lambda: SMTP(Handler(True)), None),
        (lambda: SMTP(Handler(False)), None),
        (lambda: SMTP(Handler(True), tls_context=context, require_starttls=True, **proves), None),
        (lambda: SMTP(Handler(True), auth_require_tls=False, **proves), context),
    ]
    ports = []
    for make, tls in kinds:
        server = await loop.create_server(make, "127.0.0.1", 0, ssl=tls, backlog=1024)
        ports.append(str(server.sockets[0].getsockname()[1]))
    print(" ".join(ports), flush=True)
    await asyncio.Event().wait()


asyncio.run(main())
