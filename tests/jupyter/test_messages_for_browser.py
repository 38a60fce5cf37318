"""A browser that speaks Chinese finds on the server what it does not bring itself."""

import json

from jupyter_mlgpu.explain.logs.catalogue import Catalogue
from jupyter_mlgpu.jupyter.server import messages as servermessages


def test_every_message_is_there_with_its_fields_unfilled():
    told = json.loads(servermessages.messages("zh"))
    definitions = Catalogue.load().definitions
    assert told.keys() == definitions.keys()
    for name, texts in told.items():
        assert texts.keys() == {"meaning", "advice"}
        assert texts["meaning"] == definitions[name].tables["zh"]["meaning"]


def test_the_address_follows_the_servers_own():
    ((address, _),) = servermessages.handlers("/user/ada/")
    assert address.startswith("/user/ada/jupyter-mlgpu/(messages|texts)/")
