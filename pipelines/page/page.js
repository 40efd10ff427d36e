"use strict";

const state = document.getElementById("state");
const button = document.getElementById("connect");
const talk = document.getElementById("talk");
let peer = null;

function setState(text) {
  state.textContent = text;
  button.textContent = peer ? "Disconnect" : "Connect";
}

function showExchange(exchange) {
  document.getElementById("hint")?.remove();
  const shown = document.getElementById("exchange").content.cloneNode(true);
  shown.querySelector(".utterance").textContent = exchange.utterance;
  shown.querySelector(".reply").textContent = exchange.reply;
  shown.querySelector("pre").textContent = exchange.block;
  shown.querySelector("summary").textContent = exchange.block ? `context block, recalled in ${exchange.ms} ms` : "no context block";
  talk.append(shown);
  talk.lastElementChild.scrollIntoView({ behavior: "smooth" });
}

function iceGathered(connection) {
  return new Promise((resolve) => {
    const check = () => connection.iceGatheringState === "complete" && resolve();
    connection.addEventListener("icegatheringstatechange", check);
    check();
  });
}

async function connect() {
  const microphone = await navigator.mediaDevices.getUserMedia({ audio: { echoCancellation: true, noiseSuppression: true } });
  peer = new RTCPeerConnection();
  setState("connecting");
  const channel = peer.createDataChannel("talk");
  const alive = setInterval(() => channel.readyState === "open" && channel.send("ping"), 1000);
  channel.addEventListener("message", (event) => {
    const message = JSON.parse(event.data);
    if (message.type === "exchange") showExchange(message);
  });
  peer.addEventListener("track", (event) => { document.getElementById("voice").srcObject = new MediaStream([event.track]); });
  peer.addEventListener("connectionstatechange", () => {
    if (!peer) return;
    if (peer.connectionState === "connected") setState("listening");
    if (["failed", "closed", "disconnected"].includes(peer.connectionState)) disconnect("connection lost");
  });
  peer.stop = () => { clearInterval(alive); microphone.getTracks().forEach((track) => track.stop()); };
  peer.addTransceiver(microphone.getAudioTracks()[0], { direction: "sendrecv" });
  peer.addTransceiver("video", { direction: "recvonly" });
  await peer.setLocalDescription(await peer.createOffer());
  await iceGathered(peer);
  const { sdp, type } = peer.localDescription;
  const answer = await fetch("offer", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify({ sdp, type }) });
  if (!answer.ok) throw new Error(`the bot answered ${answer.status}`);
  await peer.setRemoteDescription(await answer.json());
}

function disconnect(reason) {
  peer?.stop();
  peer?.close();
  peer = null;
  setState(reason);
}

button.addEventListener("click", async () => {
  if (peer) return disconnect("not connected");
  button.disabled = true;
  try {
    await connect();
  } catch (error) {
    disconnect(error.name === "NotAllowedError" ? "the microphone was not allowed" : `could not connect: ${error.message}`);
  } finally {
    button.disabled = false;
  }
});
